package stills

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
)

// mend puts the ends, the damaged stretches and the index of a segment in order.
func (m *mender) mend(l *loaded, sealed bool) error {
	f, err := m.fs.Open(l.path, true)
	if err != nil {
		return err
	}
	defer f.Close()
	name := filepath.Base(l.path)
	if l.read(f); l.scan.err != nil && !errors.Is(l.scan.err, io.EOF) {
		return nil // it is left as it is, and Check tells of it
	}
	changed := l.lame
	if l.lame {
		if err := l.mend(m.fs); err != nil {
			return err
		}
		m.say("%s: an end was damaged, written anew from the other", name)
	}
	for _, b := range l.scan.bad {
		changed = true
		if err := m.keep(f, b, fmt.Sprintf("%s.%d", name, b.from)); err != nil {
			return err
		}
		m.say("%s: %d damaged bytes at %d copied to the folder %s and marked", name, b.to-b.from, b.from, asideName)
	}
	if err := heal(f, l.salt, l.scan.bad); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	stored, indexErr := newReader(m.fs, m.dir).readIndex(f, l.block)
	wrong := false
	if indexErr == nil && l.block.sealed() {
		wrong = len(compare(l.path, stored, l.draft, false)) > 0
	}
	if sealed && (!l.block.sealed() || indexErr != nil || wrong) {
		changed = true
		x := l.draft.listing(0, 0)
		if indexErr == nil && l.block.sealed() {
			x.sealedAt, x.written = stored.sealedAt, stored.written
		}
		x.move(l.block.shift)
		if _, err := seal(f, l.block, x, l.end); err != nil {
			return err
		}
		m.say("%s: the index was missing or wrong, written anew from %d stills", name, len(x.list))
	}
	if !changed {
		return nil
	}
	return f.Sync()
}
