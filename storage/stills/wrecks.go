package stills

import "path/filepath"

// wreckSuffix ends the name of a wreck whose stills are being copied.
const wreckSuffix = ".wreck"

// hide takes a wreck out of the ring's sight, which might delete an empty one when it is opened. A repair that is cut off leaves it so,
// and the next one brings it back.
func (m *mender) hide(l *loaded) error { return m.fs.Rename(l.path, l.path+wreckSuffix) }

// keepWreck lets a hidden wreck be what it was, for its stills cannot be copied.
func (m *mender) keepWreck(l *loaded, why error) error {
	m.say("%s: its stills cannot be copied: %v", filepath.Base(l.path), why)
	return m.fs.Rename(l.path+wreckSuffix, l.path)
}

// discard moves a hidden wreck aside whose stills are in the ring: so many were copied, and so many were there already.
func (m *mender) discard(l *loaded, copied, had int) error {
	name := filepath.Base(l.path)
	if err := m.aside(name+wreckSuffix, name); err != nil {
		return err
	}
	m.say("%s cannot be used any more: %d of its stills copied, %d were there already; moved to the folder %s", name, copied, had, asideName)
	return nil
}

// read calls each with the records of a hidden wreck, in order of their places; camera and body are valid until it returns.
func (m *mender) read(l *loaded, each func(h record, camera, body []byte) error) error {
	f, err := m.fs.Open(l.path+wreckSuffix, false)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = wreckRecords(f, l.size, func(h record, _ uint32, camera, body []byte) error { return each(h, camera, body) })
	return err
}
