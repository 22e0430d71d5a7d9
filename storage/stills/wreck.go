package stills

import (
	"path/filepath"

	"vmsbridge/storage/stills/segment"
)

// wreckSuffix ends the name of a wreck whose stills are being copied.
const wreckSuffix = ".wreck"

// Hide takes a wreck out of the ring's sight, which might delete an empty one when it is opened. A
// repair that is cut off leaves it so, and the next one brings it back.
func (m *mender) Hide(l *segment.Found) error { return m.fs.Rename(l.Path, l.Path+wreckSuffix) }

// Keep lets a hidden wreck be what it was, for its stills cannot be copied.
func (m *mender) Keep(l *segment.Found, why error) error {
	m.say("%s: its stills cannot be copied: %v", filepath.Base(l.Path), why)
	return m.fs.Rename(l.Path+wreckSuffix, l.Path)
}

// Discard moves a hidden wreck aside whose stills are in the ring: so many were copied, and so many
// were there already.
func (m *mender) Discard(l *segment.Found, copied, had int) error {
	name := filepath.Base(l.Path)
	if err := m.aside(name+wreckSuffix, name); err != nil {
		return err
	}
	m.say("%s cannot be used any more: %d of its stills copied, %d were there already; moved to the folder %s", name,
		copied, had, asides)
	return nil
}

// Read calls each with the records of a hidden wreck, in order of their places; camera and body are
// valid until it returns.
func (m *mender) Read(l *segment.Found, each func(h segment.Record, camera, body []byte) error) error {
	f, err := m.fs.Open(l.Path+wreckSuffix, false)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = segment.WreckRecords(f, l.Size, func(h segment.Record, _ uint32, camera,
		body []byte) error {
		return each(h, camera, body)
	})
	return err
}
