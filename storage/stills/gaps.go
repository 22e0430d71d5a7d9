package stills

import (
	"cmp"
	"slices"
)

// gapNote is a gap in the index, with the segment that tells of it.
type gapNote struct {
	from, to int64
	reason   string
	segment  uint64
}

func (g gapNote) covers(t int64) bool { return g.from <= t && (g.to == noEnd || t <= g.to) }

func (g gapNote) note(camera string) note {
	return note{kind: typeGap, camera: camera, from: g.from, to: g.to, reason: g.reason}
}

// noteLocked takes a note of a segment into the index.
func (x *memIndex) noteLocked(n note, segment uint64) {
	switch n.kind {
	case typeGap:
		list := x.gaps[n.camera]
		i, found := slices.BinarySearchFunc(list, n.from, func(g gapNote, t int64) int { return cmp.Compare(g.from, t) })
		g := gapNote{n.from, n.to, n.reason, segment}
		if found {
			if list[i].segment <= segment { // at Open they may come in another order
				list[i] = g
			}
		} else {
			list = slices.Insert(list, i, g)
		}
		x.gaps[n.camera] = list
	case typePruned:
		k := seriesKey{n.camera, n.stream}
		s := x.seriesLocked(k)
		if !s.pruned || n.from > s.prunedTo {
			s.pruned, s.prunedTo = true, n.from
		}
		x.marks[k] = segment
	}
}

func (x *memIndex) dropGapsLocked(segment uint64) {
	for camera, list := range x.gaps {
		list = slices.DeleteFunc(list, func(g gapNote) bool { return g.segment == segment })
		if len(list) == 0 {
			delete(x.gaps, camera)
		} else {
			x.gaps[camera] = list
		}
	}
}

// gapsOf is the camera's gaps that touch the time from lo to hi, in order.
func (x *memIndex) gapsOf(camera string, lo, hi int64) (list []note) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	for _, g := range x.gaps[camera] {
		if g.from <= hi && (g.to == noEnd || g.to >= lo) {
			list = append(list, g.note(camera))
		}
	}
	return list
}

// gapSince says whether a gap of the camera is known that began then or later.
func (x *memIndex) gapSince(camera string, from int64) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	list := x.gaps[camera]
	return len(list) > 0 && list[len(list)-1].from >= from
}

// gapAtLocked is the gap that covers t, the latest if several do.
func (x *memIndex) gapAtLocked(camera string, t int64) *note {
	list := x.gaps[camera]
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].covers(t) {
			n := list[i].note(camera)
			return &n
		}
	}
	return nil
}
