package journal

import (
	"bytes"
	"container/heap"
	"math"
	"slices"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/uplink/vms"
)

// plan is how a query is answered from the indexes: the ranges to read, and what to check on each of their entries.
type plan struct {
	bucket   []byte
	prefixes [][]byte
	lo, hi   []byte // bounds of the start as time keys: lo inclusive, hi exclusive (nil: no bound)
	endMin   int64
	endMax   int64
	anyEnd   bool            // ends are not filtered, so ongoing events match
	types    map[string]bool // by-actor ranges only; nil: all
	empty    bool
}

// makePlan takes the narrowest index: by actor where actors are named, by type where only types are, else by time.
func makePlan(q vms.Query) plan {
	p := plan{bucket: bucketByTime, prefixes: [][]byte{nil}, anyEnd: q.EndGTE == nil && q.EndLTE == nil, endMin: math.MinInt64, endMax: endOngoing - 1}
	switch {
	case len(q.Actors) > 0:
		p.bucket, p.prefixes = bucketByActor, nil
		for _, a := range q.Actors {
			// What Put refuses is not there to be found, and would not fit a prefix.
			if len(a.Type) <= maxNameBytes && len(a.ID) <= maxNameBytes {
				p.prefixes = append(p.prefixes, actorPrefix(a))
			}
		}
		if len(q.Types) > 0 {
			p.types = map[string]bool{}
			for _, t := range q.Types {
				p.types[t] = true
			}
		}
	case len(q.Types) > 0:
		p.bucket, p.prefixes = bucketByType, nil
		for _, t := range q.Types {
			if len(t) <= maxNameBytes {
				p.prefixes = append(p.prefixes, typePrefix(t))
			}
		}
	}
	slices.SortFunc(p.prefixes, bytes.Compare)
	p.prefixes = slices.CompactFunc(p.prefixes, bytes.Equal)
	if q.EndGTE != nil {
		p.endMin = q.EndGTE.UnixMilli()
	}
	lo, hi := int64(math.MinInt64), int64(math.MaxInt64)
	if q.StartGTE != nil {
		lo = q.StartGTE.UnixMilli()
	}
	if q.StartLTE != nil {
		hi = q.StartLTE.UnixMilli() + 1
	}
	if q.EndLTE != nil {
		p.endMax = q.EndLTE.UnixMilli()
		hi = min(hi, p.endMax+1) // no event ends before its start
	}
	p.empty = lo >= hi
	p.lo, p.hi = msKey(lo), msKey(hi)
	return p
}

// accepts checks what the range does not guarantee, on an index entry's value.
func (p *plan) accepts(value []byte) bool {
	if len(value) < 8 {
		return false
	}
	if !p.anyEnd {
		if end := keyMS(value); end < p.endMin || end > p.endMax {
			return false
		}
	}
	return p.types == nil || p.types[string(value[8:])]
}

// count is the number of matching events. It reads each range's index entries once and no event.
func (p *plan) count(tx *bolt.Tx) int {
	if p.empty {
		return 0
	}
	n := 0
	b := txBucket(tx, p.bucket)
	for _, prefix := range p.prefixes {
		s := p.open(b, prefix, true, nil)
		for ; s.place != nil; s.next() {
			n++
		}
	}
	return n
}

// fetch is the places of up to n matching events in order, those after the given place (nil: from the first on).
func (p *plan) fetch(tx *bolt.Tx, ascending bool, after []byte, n int) [][]byte {
	if p.empty {
		return nil
	}
	b := txBucket(tx, p.bucket)
	m := merge{ascending: ascending}
	for _, prefix := range p.prefixes {
		if s := p.open(b, prefix, ascending, after); s.place != nil {
			m.streams = append(m.streams, s)
		}
	}
	heap.Init(&m)
	var places [][]byte
	for len(places) < n && len(m.streams) > 0 {
		s := m.streams[0]
		places = append(places, bytes.Clone(s.place))
		if s.next(); s.place == nil {
			heap.Pop(&m)
		} else {
			heap.Fix(&m, 0)
		}
	}
	return places
}

// stream walks one range in one direction. place is the current entry's, nil at the end.
type stream struct {
	plan      *plan
	cursor    *bolt.Cursor
	prefix    []byte
	lo, hi    []byte // of whole keys: lo inclusive, hi exclusive
	ascending bool
	place     []byte
}

func (p *plan) open(b *bolt.Bucket, prefix []byte, ascending bool, after []byte) *stream {
	s := &stream{plan: p, cursor: b.Cursor(), prefix: prefix, ascending: ascending}
	lo, hi := p.lo, p.hi
	if after != nil {
		// The place right after this one is it with a zero byte added.
		if next := append(bytes.Clone(after), 0); ascending && bytes.Compare(next, lo) > 0 {
			lo = next
		}
		if !ascending && bytes.Compare(after, hi) < 0 {
			hi = after
		}
	}
	s.lo, s.hi = slices.Concat(prefix, lo), slices.Concat(prefix, hi)
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

func (s *stream) next() { s.settle(s.step()) }

func (s *stream) step() (k, v []byte) {
	if s.ascending {
		return s.cursor.Next()
	}
	return s.cursor.Prev()
}

// settle goes on from k to the first entry that matches, within the bounds.
func (s *stream) settle(k, v []byte) {
	for ; k != nil; k, v = s.step() {
		if s.ascending && bytes.Compare(k, s.hi) >= 0 || !s.ascending && bytes.Compare(k, s.lo) < 0 {
			break
		}
		if s.plan.accepts(v) && len(k) > len(s.prefix)+8 {
			s.place = k[len(s.prefix):]
			return
		}
	}
	s.place = nil
}

// merge orders streams by their places. Every event is in one range only, so no place comes twice.
type merge struct {
	streams   []*stream
	ascending bool
}

func (m *merge) Len() int { return len(m.streams) }

func (m *merge) Less(a, b int) bool {
	c := bytes.Compare(m.streams[a].place, m.streams[b].place)
	return m.ascending && c < 0 || !m.ascending && c > 0
}

func (m *merge) Swap(a, b int) { m.streams[a], m.streams[b] = m.streams[b], m.streams[a] }

func (m *merge) Push(any) { panic("no stream is added later") }

func (m *merge) Pop() any {
	last := m.streams[len(m.streams)-1]
	m.streams = m.streams[:len(m.streams)-1]
	return last
}
