package stills

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

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

// InPlace mends what can be mended in its place, and moves aside what is no file of the ring. It
// returns the wrecks: segments whose stills must be copied. It locks the ring meanwhile. The error
// is that of a device that refuses to write; it can be called again.
func (m *mender) InPlace() (wrecks []*segment.Found, err error) {
	lock, err := m.fs.Lock(filepath.Join(m.dir, segment.LockName))
	if err != nil {
		return nil, fmt.Errorf("%w: stop vmsbridge first", err)
	}
	wrecks, err = m.segments()
	return wrecks, errors.Join(err, lock.Close())
}

// segments looks at each file, and mends what can be mended in its place. It returns those whose
// stills must be copied.
func (m *mender) segments() (wrecks []*segment.Found, err error) {
	list, err := m.fs.List(m.dir)
	if err != nil {
		return nil, err
	}
	taken := map[uint64]bool{}
	for i, e := range list {
		if name, ok := strings.CutSuffix(e.Name, wreckSuffix); ok { // an earlier repair was cut off
			if err := m.fs.Rename(filepath.Join(m.dir, e.Name), filepath.Join(m.dir, name)); err != nil {
				return nil, err
			}
			list[i].Name = name
		}
		if n, ok := segment.SegmentNumber(list[i].Name); ok {
			taken[n] = true
		}
	}
	var open [segment.Lanes]*segment.Found
	for _, e := range list {
		number, ok := segment.SegmentNumber(e.Name)
		if !ok {
			if segment.IsForeign(e.Name) {
				if err := m.aside(e.Name, e.Name); err != nil {
					return nil, err
				}
				m.say("%s is no file of the ring: moved to the folder %s", e.Name, asides)
			}
			continue
		}
		l, err := m.identify(e, number, taken)
		if err != nil {
			return nil, err
		}
		if l.Trouble != nil {
			continue // it is left as it is, and Check tells of it
		}
		if l.Broken != nil || !l.Whole {
			if empty, err := segment.IsEmpty(m.fs, l.Path); err != nil {
				continue // as above
			} else if empty {
				if err := m.fs.Remove(l.Path); err != nil {
					return nil, err
				}
				m.say("%s is empty: deleted", e.Name)
				continue
			}
			wrecks = append(wrecks, l)
			continue
		}
		if before := open[l.Lane]; before != nil { // it is not the last of its lane, so it must have an index
			if err := m.mend(before, true); err != nil {
				return nil, err
			}
		}
		if open[l.Lane] = nil; !l.Block.Sealed() {
			open[l.Lane] = l
		} else if err := m.mend(l, true); err != nil {
			return nil, err
		}
	}
	for _, l := range open {
		if l != nil {
			if err := m.mend(l, false); err != nil {
				return nil, err
			}
		}
	}
	return wrecks, nil
}
