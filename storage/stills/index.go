package stills

import (
	"slices"
	"sync"

	"vmsbridge/storage/stills/segment"
)

// index is which stills and gaps there are, and where. It is safe for concurrent use, and waits for
// nothing but itself: no lock of it is ever held across a call to the file system.
type index struct {
	mu      sync.RWMutex
	series  map[segment.Key]*series
	loading loading
	gaps    map[string][]gapNote   // by camera, sorted by from
	marks   map[segment.Key]uint64 // segment with the note that the series is all pruned
	round   bool                   // segments were dropped, now or earlier
}

// newIndex is an empty index.
func newIndex() *index {
	return &index{series: map[segment.Key]*series{}, gaps: map[string][]gapNote{}, marks: map[segment.Key]uint64{}}
}

// loading is how many segments Open has looked at, and of how many.
type loading struct{ done, all int }

// expect is how many parts a series is given room for that has n: at Open, as many as it will have
// if it goes on so, for the garbage of growing would add to the memory that the process has for
// good.
func (l loading) expect(n int) int {
	more := n + n/8 + 8
	if l.done > 0 && n >= 8 {
		return max(more, (n+1)*l.all/l.done+2)
	}
	return more
}

// Loads says how many of all segments the index has been told of, while it is being filled; 0 of 0
// is the end of that.
func (x *index) Loads(done, all int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.loading = loading{done, all}
}

// WentRound says that segments were dropped before this index was made.
func (x *index) WentRound() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.round = true
}

// Add takes a still of the segment that is being written: into its draft d, too.
func (x *index) Add(seg *member, d *segment.Draft, key segment.Key, e segment.Entry) {
	x.mu.Lock()
	defer x.mu.Unlock()
	d.Add(key, e)
	x.seriesLocked(key).tails[seg.Lane] = tail{seg, d.Series[key]}
	delete(x.marks, key)
}

// AddNote takes a note of the segment that is being written: into its draft d, too.
func (x *index) AddNote(seg *member, d *segment.Draft, n segment.Note) {
	x.mu.Lock()
	defer x.mu.Unlock()
	d.AddNote(n)
	x.noteLocked(n, seg.Number)
}

// GoOn takes a segment that was found and goes on being written, with what its draft has.
func (x *index) GoOn(seg *member, d *segment.Draft) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for k, e := range d.Series {
		x.seriesLocked(k).tails[seg.Lane] = tail{seg, e}
	}
	for _, n := range d.Notes {
		x.noteLocked(n, seg.Number)
	}
}

// Adopt takes a full segment that was found, notes and stills. It keeps nothing of l.
func (x *index) Adopt(seg *member, l *segment.Listing) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, n := range l.Notes {
		x.noteLocked(n, seg.Number)
	}
	x.installLocked(seg, l)
}

// Install gives a full segment's listing to the series, packed; it keeps nothing of it. What they
// had of the segment while it was written is given up.
func (x *index) Install(seg *member, l *segment.Listing) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.installLocked(seg, l)
}

func (x *index) installLocked(seg *member, l *segment.Listing) {
	seg.list = make([]spot, 0, len(l.List))
	for _, run := range l.Runs {
		s := x.seriesLocked(run.Key)
		for i := range s.tails {
			if s.tails[i].seg == seg {
				s.tails[i] = tail{}
			}
		}
		for list := l.List[run.Lo:run.Hi]; len(list) > 0; {
			lo := uint32(len(seg.list))
			seg.list = pack(list, seg.list)
			n := uint32(len(seg.list)) - lo
			x.partLocked(s, part{seg, lo, lo + n, list[0].Time, list[n-1].Time})
			list = list[n:]
		}
	}
}

// partLocked puts a part in its place among those of its series.
func (x *index) partLocked(s *series, p part) {
	at := len(s.parts)
	for at > 0 && s.parts[at-1].seg.Number > p.seg.Number {
		at--
	}
	if n := len(s.parts); n == cap(s.parts) {
		s.parts = slices.Insert(make([]part, 0, x.loading.expect(n)), 0, s.parts...)
	}
	s.parts = slices.Insert(s.parts, at, p)
	s.mixed = s.mixed || !s.follows(at) || !s.follows(at+1)
}

func (x *index) seriesLocked(k segment.Key) *series {
	s := x.series[k]
	if s == nil {
		s = &series{}
		x.series[k] = s
	}
	return s
}

// Forget takes a damaged still out.
func (x *index) Forget(key segment.Key, loc location) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if s := x.series[key]; s != nil {
		s.forget(loc)
	}
}

// Drop takes a segment's stills and notes out. A series that loses its last still is owed a note,
// so that it can still be told pruned from never recorded; and so is a gap that lasts. No more than
// most of those are returned, to be added with a segment of which they are.
func (x *index) Drop(seg *member, most int) (owed []segment.Note) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.round = true
	for k, s := range x.series {
		had := s.drop(seg)
		if !s.pruned || !had && x.marks[k] != seg.Number || !s.empty() || len(owed) >= most {
			continue
		}
		owed = append(owed, segment.Note{Type: segment.TypePruned, Kind: k.Kind, Camera: k.Camera, From: s.prunedTo})
	}
	for camera, list := range x.gaps {
		for _, g := range list {
			if g.segment == seg.Number && g.to == segment.NoEnd && len(owed) < most {
				owed = append(owed, segment.Note{Type: segment.TypeGap, Camera: camera, From: g.from, To: g.to,
					Reason: g.reason})
			}
		}
	}
	x.dropGapsLocked(seg.Number)
	seg.list, seg.gone = nil, true
	return owed
}
