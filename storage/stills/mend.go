package stills

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"vmsbridge/storage/stills/segment"
)

// mend puts the ends and the damaged stretches of a segment in order. Where its index is wrong or
// lists what is damaged, it has none any more, and the next Open makes it.
func (m *mender) mend(l *segment.Found) error {
	f, err := m.fs.Open(l.Path, true)
	if err != nil {
		return err
	}
	defer f.Close()
	name := filepath.Base(l.Path)
	if l.Read(f); l.Scan.Err != nil && !errors.Is(l.Scan.Err, io.EOF) {
		return nil // it is left as it is, and Check tells of it
	}
	if l.Lame {
		m.say("%s: an end was damaged or cut off, written anew from the other", name)
	}
	for _, b := range l.Scan.Bad {
		if err := m.keep(f, b, fmt.Sprintf("%s.%d", name, b.From)); err != nil {
			return err
		}
		m.say("%s: %d damaged bytes at %d copied to the folder %s and marked", name, b.To-b.From, b.From, asides)
	}
	if err := segment.Heal(f, l.Salt, l.Scan.Bad); err != nil {
		return err
	}
	wrong := false
	if l.Block.Sealed() {
		stored, err := segment.NewReader(m.fs, m.dir).ReadIndex(f, l.Block)
		if wrong = err != nil || len(compare(l.Path, stored, l.Draft, false)) > 0; wrong {
			l.Block = l.Block.Head()
			m.say("%s: the index was wrong, written anew from %d stills", name, l.Draft.Stills)
		}
	}
	if !wrong && !l.Lame && len(l.Scan.Bad) == 0 {
		return nil
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return l.Mend(m.fs)
}
