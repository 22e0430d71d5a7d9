package stills

import (
	"cmp"
	"slices"

	"vmsbridge/storage/stills/segment"
)

// gapNote is a gap in the index, with the segment that tells of it.
type gapNote struct {
	from, to int64
	reason   string
	segment  uint64
}

func (g gapNote) covers(t int64) bool { return g.from <= t && (g.to == segment.NoEnd || t <= g.to) }

func (g gapNote) note(camera string) segment.Note {
	return segment.Note{Type: segment.TypeGap, Camera: camera, From: g.from, To: g.to, Reason: g.reason}
}

// noteLocked takes a note of the segment of that number into the index.
func (x *index) noteLocked(n segment.Note, number uint64) {
	switch n.Type {
	case segment.TypeGap:
		list := x.gaps[n.Camera]
		i, found := slices.BinarySearchFunc(list, n.From,
			func(g gapNote, t int64) int { return cmp.Compare(g.from, t) })
		g := gapNote{n.From, n.To, n.Reason, number}
		if found {
			if list[i].segment <= number { // at Open they may come in another order
				list[i] = g
			}
		} else {
			list = slices.Insert(list, i, g)
		}
		x.gaps[n.Camera] = list
	case segment.TypePruned:
		k := segment.Key{Camera: n.Camera, Kind: n.Kind}
		s := x.seriesLocked(k)
		if !s.pruned || n.From > s.prunedTo {
			s.pruned, s.prunedTo = true, n.From
		}
		x.marks[k] = number
	}
}

func (x *index) dropGapsLocked(number uint64) {
	for camera, list := range x.gaps {
		list = slices.DeleteFunc(list, func(g gapNote) bool { return g.segment == number })
		if len(list) == 0 {
			delete(x.gaps, camera)
		} else {
			x.gaps[camera] = list
		}
	}
}

// Gaps is the camera's gaps that touch the time from lo to hi, in order.
func (x *index) Gaps(camera string, lo, hi int64) (list []segment.Note) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	for _, g := range x.gaps[camera] {
		if g.from <= hi && (g.to == segment.NoEnd || g.to >= lo) {
			list = append(list, g.note(camera))
		}
	}
	return list
}

// GapSince says whether a gap of the camera is known that began then or later.
func (x *index) GapSince(camera string, from int64) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	list := x.gaps[camera]
	return len(list) > 0 && list[len(list)-1].from >= from
}

// gapAtLocked is the gap that covers t, the latest if several do.
func (x *index) gapAtLocked(camera string, t int64) *Gap {
	list := x.gaps[camera]
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].covers(t) {
			gap := newGap(list[i].note(camera))
			return &gap
		}
	}
	return nil
}
