package repair

import (
	"errors"
	"io/fs"
	"path/filepath"

	"vmsbridge/storage/stills/audit"
)

// Acknowledge notes that segments are missing, which cannot be had back, so that Check tells of
// others only.
func (m *Mender) Acknowledge(numbers []uint64) error {
	if err := m.fs.MakeDir(filepath.Join(m.dir, audit.Asides)); err != nil {
		return err
	}
	for _, n := range numbers {
		f, err := m.fs.Create(audit.Marker(m.dir, n), 1)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if err == nil {
			if err := f.Close(); err != nil {
				return err
			}
		}
		m.say("segment %d is missing and cannot be had back: noted in the folder %s", n, audit.Asides)
	}
	return m.fs.SyncDir(filepath.Join(m.dir, audit.Asides))
}
