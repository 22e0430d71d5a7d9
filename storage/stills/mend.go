package stills

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"vmsbridge/storage/stills/segment"
)

// mend puts the ends, the damaged stretches and the index of a segment in order.
func (m *mender) mend(l *segment.Found, sealed bool) error {
	f, err := m.fs.Open(l.Path, true)
	if err != nil {
		return err
	}
	defer f.Close()
	name := filepath.Base(l.Path)
	if l.Read(f); l.Scan.Err != nil && !errors.Is(l.Scan.Err, io.EOF) {
		return nil // it is left as it is, and Check tells of it
	}
	changed := l.Lame
	if l.Lame {
		if err := l.Mend(m.fs); err != nil {
			return err
		}
		m.say("%s: an end was damaged, written anew from the other", name)
	}
	for _, b := range l.Scan.Bad {
		changed = true
		if err := m.keep(f, b, fmt.Sprintf("%s.%d", name, b.From)); err != nil {
			return err
		}
		m.say("%s: %d damaged bytes at %d copied to the folder %s and marked", name, b.To-b.From, b.From, asides)
	}
	if err := segment.Heal(f, l.Salt, l.Scan.Bad); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	stored, indexErr := segment.NewReader(m.fs, m.dir).ReadIndex(f, l.Block)
	wrong := false
	if indexErr == nil && l.Block.Sealed() {
		wrong = len(compare(l.Path, stored, l.Draft, false)) > 0
	}
	if sealed && (!l.Block.Sealed() || indexErr != nil || wrong) {
		changed = true
		x := l.Draft.Listing(0, 0)
		if indexErr == nil && l.Block.Sealed() {
			x.SealedAt, x.Written = stored.SealedAt, stored.Written
		}
		if _, err := segment.Seal(f, l.Block, x.Encode(0), l.End); err != nil {
			return err
		}
		m.say("%s: the index was missing or wrong, written anew from %d stills", name, len(x.List))
	}
	if !changed {
		return nil
	}
	return f.Sync()
}
