package stills

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Frame is a still without its picture, for a timeline.
type Frame struct {
	Time time.Time
	Kind Kind
	Size int // bytes of the JPEG
}

// RangeMost is how many frames Range gives at most.
const RangeMost = 10_000

// Range lists the stills of a camera from from to to, both included, in order of time, without reading a picture. Kind 0
// means both kinds. At most limit are listed, and no more than RangeMost; then more is true, and the next page begins a
// nanosecond behind the last one's time: stills of one time are never parted, so with both kinds a page may hold one more
// than limit. Stills may be dropped between two pages. A damaged still is listed until somebody tries to read it.
func (r *Ring) Range(camera string, k Kind, from, to time.Time, limit int) (list []Frame, more bool, err error) {
	if err := checkCamera(camera); err != nil {
		return nil, false, fmt.Errorf("list stills: %w", err)
	}
	kinds := []Kind{k}
	if k == 0 {
		kinds = []Kind{Preview, Main}
	} else if err := checkKind(k); err != nil {
		return nil, false, fmt.Errorf("list stills of %q: %w", camera, err)
	}
	if limit < 1 || limit > RangeMost {
		limit = RangeMost
	}
	lo, hi := clampNanos(from), clampNanos(to)
	type found struct {
		location
		kind Kind
	}
	var all []found
	r.mu.RLock()
	for _, kind := range kinds {
		s := r.series[seriesKey{camera, kind}]
		if s == nil {
			continue
		}
		for _, l := range s.between(lo, hi, limit+1) {
			all = append(all, found{l, kind})
		}
	}
	r.mu.RUnlock()
	slices.SortStableFunc(all, func(a, b found) int { return cmp.Compare(a.time, b.time) })
	for i, f := range all {
		if i >= limit && f.time != all[i-1].time {
			return list, true, nil
		}
		size, err := r.size(f.location)
		if err != nil {
			continue // it was dropped since, or is damaged
		}
		list = append(list, Frame{nanosTime(f.time), f.kind, size})
	}
	return list, false, nil
}

// size is a still's; indexes of version 1 do not have it.
func (r *Ring) size(l location) (int, error) {
	if l.entry.size > 0 {
		return int(l.entry.size), nil
	}
	f, err := r.fs.Open(l.seg.path, false)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	var head [recordHead]byte
	if _, err := f.ReadAt(head[:], int64(l.place)); err != nil {
		return 0, err
	}
	h, err := decodeRecord(head[:], l.seg.salt, l.place, l.seg.limit)
	if err != nil {
		return 0, errors.Join(errDamaged, err)
	}
	return int(h.length) - int(h.camera), nil
}

// cursor walks over a series' stills of one segment. Ring.mu is held.
type cursor struct {
	entry // where it is
	seg   *segment
	n     int // of the entry
	len   int // how many there are
	at    func(n int) entry
}

// between are the first limit stills from lo to hi, in order of time. Of several of one time, the newest segment's counts.
func (s *series) between(lo, hi int64, limit int) (list []location) {
	var next []cursor // a heap: the one with the earliest still first, and of those the newest segment
	add := func(seg *segment, n, len int, at func(int) entry) {
		if n < len && at(n).time <= hi {
			next = append(next, cursor{at(n), seg, n, len, at})
		}
	}
	for i := range s.parts {
		if p := &s.parts[i]; p.min <= hi && p.max >= lo {
			n, _ := p.search(lo)
			add(p.seg, n, p.len(), p.entry)
		}
	}
	for _, t := range s.tails {
		if t.entries != nil {
			n, _ := search(t.list, lo)
			add(t.seg, n, len(t.list), func(n int) entry { return t.list[n] })
		}
	}
	slices.SortFunc(next, cursor.compare)
	for len(next) > 0 && len(list) < limit {
		c := &next[0]
		if len(list) == 0 || list[len(list)-1].time != c.time {
			list = append(list, location{c.seg, c.entry, c.seg.shift})
		}
		if c.n++; c.n < c.len {
			c.entry = c.at(c.n)
		}
		if c.n == c.len || c.time > hi {
			next[0] = next[len(next)-1]
			next = next[:len(next)-1]
		}
		sink(next)
	}
	return list
}

func (c cursor) compare(d cursor) int {
	return cmp.Or(cmp.Compare(c.time, d.time), cmp.Compare(d.seg.number, c.seg.number))
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
