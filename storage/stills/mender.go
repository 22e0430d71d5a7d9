package stills

import (
	"errors"
	"fmt"
	"path/filepath"

	"vmsbridge/storage/stills/segment"
	"vmsbridge/storage/vfs"
)

// mender is a repair under way. It is for one goroutine.
type mender struct {
	fs   vfs.FS
	dir  string
	Done []string // a sentence for each thing that was done
}

// newMender begins a repair of the ring in dir.
func newMender(fs vfs.FS, dir string) *mender { return &mender{fs: fs, dir: dir} }

// say notes what was done.
func (m *mender) say(format string, args ...any) {
	m.Done = append(m.Done, fmt.Sprintf(format, args...))
}

// InPlace mends what can be mended, and moves aside what is no file of the ring or holds no still.
// It locks the ring meanwhile. The error is that of a device that refuses to write; it can be
// called again.
func (m *mender) InPlace() error {
	lock, err := m.fs.Lock(filepath.Join(m.dir, segment.LockName))
	if err != nil {
		return fmt.Errorf("%w: stop vmsbridge first", err)
	}
	list, err := m.fs.List(m.dir)
	for _, e := range list {
		if err == nil {
			err = m.file(e)
		}
	}
	return errors.Join(err, lock.Close())
}

// file puts one file of the ring's folder in order.
func (m *mender) file(e vfs.Entry) error {
	number, ok := segment.SegmentNumber(e.Name)
	if !ok {
		if !segment.IsForeign(e.Name) {
			return nil
		}
		m.say("%s is no file of the ring: moved to the folder %s", e.Name, asides)
		return m.aside(e.Name)
	}
	l := segment.NewFound(m.dir, e, number)
	f, err := m.fs.Open(l.Path, false)
	if segment.Exhausted(err) {
		return err
	}
	if err != nil {
		return nil // it is left as it is, and Check tells of it
	}
	defer f.Close()
	if l.Broken = l.Identify(f); l.Broken != nil && l.Trouble == nil {
		n, err := segment.NewReader(m.fs, m.dir).Revive(e, number)
		if err != nil {
			return err
		}
		if n > 0 {
			m.say("%s had lost both ends: written anew, with %d records", e.Name, n)
			l.Broken = l.Identify(f)
		}
	}
	if l.Trouble != nil {
		return nil // as above
	}
	if l.Broken == nil && !l.Lame {
		return m.mend(l)
	}
	switch empty, err := segment.IsEmpty(m.fs, l.Path); {
	case err != nil:
		return nil // as above
	case empty:
		m.say("%s is empty: deleted", e.Name)
		return m.fs.Remove(l.Path)
	case l.Broken != nil:
		m.say("%s cannot be used: moved to the folder %s", e.Name, asides)
		return m.aside(e.Name)
	}
	return m.mend(l)
}
