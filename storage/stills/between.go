package stills

import (
	"cmp"
	"slices"

	"vmsbridge/storage/stills/segment"
)

// hit is where a still of a kind is.
type hit struct {
	location
	Kind segment.Kind
}

// Between is the camera's stills of those kinds from lo to hi, in order of time, and no more than
// limit of each kind.
func (x *index) Between(camera string, kinds []segment.Kind, lo, hi int64, limit int) (all []hit) {
	x.mu.RLock()
	for _, kind := range kinds {
		s := x.series[segment.Key{Camera: camera, Kind: kind}]
		if s == nil {
			continue
		}
		for _, l := range s.between(lo, hi, limit) {
			all = append(all, hit{l, kind})
		}
	}
	x.mu.RUnlock()
	slices.SortStableFunc(all, func(a, b hit) int { return cmp.Compare(a.Time, b.Time) })
	return all
}

// cursor walks over a series' stills of one segment. The index' lock is held.
type cursor struct {
	seg  *member
	list []segment.Entry // where it is, and what comes behind it
}

// between are the first limit stills from lo to hi, in order of time. Of several of one time, the
// newest segment's counts.
func (s *series) between(lo, hi int64, limit int) (list []location) {
	var next []cursor // a heap: the one with the earliest still first, and of those the newest segment
	for i := range s.parts {
		p := &s.parts[i]
		if p.min > hi || p.max < lo {
			continue
		}
		from, _ := segment.Search(p.List, lo)
		if to := pick(p.List, AtOrBefore, hi); from <= to {
			next = append(next, cursor{p.seg, p.List[from : to+1]})
		}
	}
	slices.SortFunc(next, cursor.compare)
	for len(next) > 0 && len(list) < limit {
		c := &next[0]
		if len(list) == 0 || list[len(list)-1].Time != c.list[0].Time {
			list = append(list, location{c.seg, c.list[0], c.seg.Shift})
		}
		if c.list = c.list[1:]; len(c.list) == 0 {
			next[0] = next[len(next)-1]
			next = next[:len(next)-1]
		}
		sink(next)
	}
	return list
}

func (c cursor) compare(d cursor) int {
	return cmp.Or(cmp.Compare(c.list[0].Time, d.list[0].Time), cmp.Compare(d.seg.Number, c.seg.Number))
}

// sink puts a heap in order of which only the first may be out of place.
func sink(heap []cursor) {
	for i := 0; ; {
		least := i
		for _, child := range []int{2*i + 1, 2*i + 2} {
			if child < len(heap) && heap[child].compare(heap[least]) < 0 {
				least = child
			}
		}
		if least == i {
			return
		}
		heap[i], heap[least] = heap[least], heap[i]
		i = least
	}
}
