package journal

import (
	"bytes"
	"container/heap"
	"math"
	"slices"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/guard"
	"vmsbridge/storage/journal/schema"
	"vmsbridge/uplink/vms"
)

// count is the number of matching events. It reads no event; index entries it reads where their
// ends are to be looked at, and counts the rest by pages.
func (p *plan) count(tx *bolt.Tx) int {
	n := 0
	for _, g := range p.groups {
		n += p.countGroup(tx, g)
	}
	return n
}

// countGroup is the number of matching events in a group.
func (p *plan) countGroup(tx *bolt.Tx, group []byte) (n int) {
	lo, hi, ok := p.bounds(group)
	if !ok {
		return 0
	}
	from, to := p.certain(group, lo, hi)
	sure, ok := p.countPages(tx, slices.Concat(group, from), slices.Concat(group, to))
	if !ok {
		return p.countWalked(tx, group, lo, hi)
	}
	return sure + p.countWalked(tx, group, lo, from) + p.countWalked(tx, group, to, hi)
}

// countWalked is the number of matching events of a group between two time keys.
func (p *plan) countWalked(tx *bolt.Tx, group, lo, hi []byte) (n int) {
	if bytes.Compare(lo, hi) >= 0 {
		return 0
	}
	for s := p.between(tx, group, true, lo, hi); s.place != nil; s.next() {
		n++
	}
	return n
}

// certain narrows a group's bounds to starts whose events match whatever their length within the
// class is.
func (p *plan) certain(group, lo, hi []byte) (from, to []byte) {
	class := group[len(group)-1]
	if p.anyEnd || class == schema.ClassOngoing {
		return lo, hi
	}
	least, most := schema.SureStarts(class, p.endMin, p.endMax)
	from, to = schema.MSKey(least), schema.MSKey(most)
	if bytes.Compare(from, lo) < 0 {
		from = lo
	}
	if bytes.Compare(to, hi) > 0 {
		to = hi
	}
	if bytes.Compare(from, to) > 0 {
		return lo, lo
	}
	return from, to
}

// countPages is the number of keys of the index between two, by its pages. It is not ok where only
// a walk can tell.
func (p *plan) countPages(tx *bolt.Tx, lo, hi []byte) (n int, ok bool) {
	if bytes.Compare(lo, hi) >= 0 {
		return 0, true
	}
	file, ok := pagesOf(tx)
	file.known, file.fresh = p.known, p.fresh
	root := guard.Bucket(tx, p.bucket).Root()
	if !ok || root == 0 {
		return 0, false // it is small, and stands within another page
	}
	if p.stop != nil && p.err == nil {
		p.err = p.stop()
	}
	if p.err != nil {
		return 0, true
	}
	read := 0
	n, ok = file.count(uint64(root), lo, hi, 0, &read)
	return n, ok
}

// fetch is the places of up to n matching events in order, those after the given place (nil: from
// the first on).
func (p *plan) fetch(tx *bolt.Tx, ascending bool, after []byte, n int) [][]byte {
	m := p.merged(tx, ascending, after)
	var places [][]byte
	for len(places) < n && len(m.streams) > 0 {
		places = append(places, bytes.Clone(m.streams[0].place))
		m.next()
	}
	return places
}

// merged is all groups' events in one order, from the given place on.
func (p *plan) merged(tx *bolt.Tx, ascending bool, after []byte) *merge {
	m := &merge{ascending: ascending}
	for _, g := range p.groups {
		if s := p.open(tx, g, ascending, after); s.place != nil {
			m.streams = append(m.streams, s)
		}
	}
	heap.Init(m)
	return m
}

// ended visits the events that ended before a time, in milliseconds, in the order of their places,
// those after the given place (nil: from the first on), until visit says no. group and place
// together are the event's key in the index by time; visit must copy what it keeps.
func ended(tx *bolt.Tx, before int64, after []byte, visit func(group, place []byte) bool) {
	p := makePlan(vms.Query{})
	p.anyEnd, p.endMax = false, before-1
	p.survey(tx)
	for m := p.merged(tx, true, after); len(m.streams) > 0; m.next() {
		if s := m.streams[0]; !visit(s.group, s.place) {
			return
		}
	}
}

// stream walks one group in one direction. place is the current entry's, nil at the end.
type stream struct {
	plan      *plan
	cursor    *bolt.Cursor
	group     []byte
	lo, hi    []byte // of whole keys: lo inclusive, hi exclusive
	ascending bool
	place     []byte
}

func (p *plan) open(tx *bolt.Tx, group []byte, ascending bool, after []byte) *stream {
	lo, hi, ok := p.bounds(group)
	if !ok {
		return &stream{plan: p}
	}
	if after != nil {
		// The place right after this one is it with a zero byte added.
		if next := append(bytes.Clone(after), 0); ascending && bytes.Compare(next, lo) > 0 {
			lo = next
		}
		if !ascending && bytes.Compare(after, hi) < 0 {
			hi = after
		}
	}
	return p.between(tx, group, ascending, lo, hi)
}

// between is a stream of a group's events between two places.
func (p *plan) between(tx *bolt.Tx, group []byte, ascending bool, lo, hi []byte) *stream {
	s := &stream{plan: p, cursor: guard.Bucket(tx, p.bucket).Cursor(), group: group, ascending: ascending}
	s.lo, s.hi = slices.Concat(group, lo), slices.Concat(group, hi)
	var k, v []byte
	if ascending {
		k, v = s.cursor.Seek(s.lo)
	} else if k, _ = s.cursor.Seek(s.hi); k != nil {
		k, v = s.cursor.Prev()
	} else {
		k, v = s.cursor.Last()
	}
	s.settle(k, v)
	return s
}

// bounds are those of a group's places, as time keys: lo inclusive, hi exclusive. Not ok: nothing
// in it can match.
func (p *plan) bounds(group []byte) (lo, hi []byte, ok bool) {
	from, to := p.from, p.to
	if !p.anyEnd {
		class := group[len(group)-1]
		lo, hi := int64(math.MinInt64), p.endMax+1
		if class != schema.ClassOngoing {
			lo, hi = schema.Starts(class, p.endMin, p.endMax)
		} else if !p.live {
			return nil, nil, false
		}
		from, to = max(from, lo), min(to, hi)
	}
	return schema.MSKey(from), schema.MSKey(to), from < to
}

func (s *stream) next() { s.settle(s.step()) }

func (s *stream) step() (k, v []byte) {
	if s.ascending {
		return s.cursor.Next()
	}
	return s.cursor.Prev()
}

// settle goes on from k to the first entry that matches, within the bounds.
func (s *stream) settle(k, v []byte) {
	for ; k != nil && !s.plan.stopped(); k, v = s.step() {
		s.plan.read++
		if s.ascending && bytes.Compare(k, s.hi) >= 0 || !s.ascending && bytes.Compare(k, s.lo) < 0 {
			break
		}
		if s.plan.accepts(v) && len(k) > len(s.group)+8 {
			s.place = k[len(s.group):]
			return
		}
	}
	s.place = nil
}

// lookEvery is after how many index entries it is asked whether somebody still waits.
const lookEvery = 1024

// stopped reports whether nobody waits any more. Then all streams are at their end.
func (p *plan) stopped() bool {
	if p.stop != nil && p.err == nil && p.read%lookEvery == lookEvery-1 {
		p.err = p.stop()
	}
	return p.err != nil
}

// accepts checks what the range does not guarantee, on an index entry's value.
func (p *plan) accepts(value []byte) bool {
	if len(value) != 8 {
		return false
	}
	if p.anyEnd {
		return true
	}
	end := schema.KeyMS(value)
	if end == schema.EndOngoing {
		return p.live
	}
	return end >= p.endMin && end <= p.endMax
}
