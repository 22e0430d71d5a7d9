package stills

import (
	"path/filepath"

	"vmsbridge/storage/stills/segment"
	"vmsbridge/storage/vfs"
)

// identify says what a segment is, and gives it its own name back where that is free.
func (m *mender) identify(e vfs.Entry, number uint64, taken map[uint64]bool) (*segment.Found, error) {
	l := segment.NewFound(m.dir, e, number)
	f, err := m.fs.Open(l.Path, false)
	if segment.Exhausted(err) {
		return nil, err
	}
	if err != nil {
		l.Trouble = err
		return l, nil
	}
	defer f.Close()
	if l.Broken = l.Identify(f); l.Broken == nil || l.Trouble != nil {
		return l, nil
	}
	if l.Block.Number == 0 {
		n, err := segment.NewReader(m.fs, m.dir).Revive(e, number)
		if err != nil || n == 0 {
			return l, err
		}
		m.say("%s had lost both ends: written anew, with %d records", e.Name, n)
		l.Broken = l.Identify(f)
		return l, nil
	}
	other := segment.NewFound(m.dir, e, l.Block.Number)
	if l.Block.Number == number || other.Identify(f) != nil || other.Number == 0 {
		return l, nil
	}
	if taken[other.Number] {
		return l, nil
	}
	to := filepath.Join(m.dir, segment.SegmentName(other.Number))
	if err := m.fs.Rename(l.Path, to); err != nil {
		return nil, err
	}
	taken[other.Number] = true
	m.say("%s is segment %d: renamed", e.Name, other.Number)
	other.Path = to
	return other, nil
}
