package stills

import (
	"path/filepath"
	"vmsbridge/storage/vfs"
)

// identify says what a segment is, and gives it its own name back where that is free.
func (m *mender) identify(e vfs.Entry, number uint64, taken map[uint64]bool) (*loaded, error) {
	l := newLoaded(m.dir, e, number)
	f, err := m.fs.Open(l.path, false)
	if exhausted(err) {
		return nil, err
	}
	if err != nil {
		l.trouble = err
		return l, nil
	}
	defer f.Close()
	if l.broken = l.identify(f); l.broken == nil || l.trouble != nil {
		return l, nil
	}
	if l.block.number == 0 {
		n, err := newReader(m.fs, m.dir).revive(e, number)
		if err != nil || n == 0 {
			return l, err
		}
		m.say("%s had lost both ends: written anew, with %d records", e.Name, n)
		l.broken = l.identify(f)
		return l, nil
	}
	other := newLoaded(m.dir, e, l.block.number)
	if l.block.number == number || other.identify(f) != nil || other.number == 0 {
		return l, nil
	}
	if taken[other.number] {
		return l, nil
	}
	to := filepath.Join(m.dir, segmentName(other.number))
	if err := m.fs.Rename(l.path, to); err != nil {
		return nil, err
	}
	taken[other.number] = true
	m.say("%s is segment %d: renamed", e.Name, other.number)
	other.path = to
	return other, nil
}
