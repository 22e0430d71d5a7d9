package stills

import (
	"slices"
	"sync"
)

// memIndex is which stills and gaps there are, and where. It is safe for concurrent use, and waits for nothing but itself: no lock of it is
// ever held across a call to the file system.
type memIndex struct {
	mu      sync.RWMutex
	series  map[seriesKey]*series
	loading loading
	gaps    map[string][]gapNote // by camera, sorted by from
	marks   map[seriesKey]uint64 // segment with the note that the series is all pruned
	round   bool                 // segments were dropped, now or earlier
}

// newMemIndex is an empty index.
func newMemIndex() *memIndex {
	return &memIndex{series: map[seriesKey]*series{}, gaps: map[string][]gapNote{}, marks: map[seriesKey]uint64{}}
}

// indexed is a segment as the index has it. Whoever changes era and shift of its file holds the index' lock beside the ring's.
type indexed struct {
	segFile
	list []spot // the full segment's stills, series after series; the parts point into it
	gone bool   // it left the index
}

// loading is how many segments Open has looked at, and of how many.
type loading struct{ done, all int }

// expect is how many parts a series is given room for that has n: at Open, as many as it will have if it goes on so, for the
// garbage of growing would add to the memory that the process has for good.
func (l loading) expect(n int) int {
	more := n + n/8 + 8
	if l.done > 0 && n >= 8 {
		return max(more, (n+1)*l.all/l.done+2)
	}
	return more
}

// loads says how many of all segments the index has been told of, while it is being filled; 0 of 0 is the end of that.
func (x *memIndex) loads(done, all int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.loading = loading{done, all}
}

// wentRound says that segments were dropped before this index was made.
func (x *memIndex) wentRound() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.round = true
}

// add takes a still of the segment that is being written: into its draft d, too.
func (x *memIndex) add(seg *indexed, d *draft, key seriesKey, e entry) {
	x.mu.Lock()
	defer x.mu.Unlock()
	d.add(key, e)
	x.seriesLocked(key).tails[seg.lane] = tail{seg, d.series[key]}
	delete(x.marks, key)
}

// addNote takes a note of the segment that is being written: into its draft d, too.
func (x *memIndex) addNote(seg *indexed, d *draft, n note) {
	x.mu.Lock()
	defer x.mu.Unlock()
	d.addNote(n)
	x.noteLocked(n, seg.number)
}

// goOn takes a segment that was found and goes on being written, with what its draft has.
func (x *memIndex) goOn(seg *indexed, d *draft) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for k, e := range d.series {
		x.seriesLocked(k).tails[seg.lane] = tail{seg, e}
	}
	for _, n := range d.notes {
		x.noteLocked(n, seg.number)
	}
}

// adopt takes a full segment that was found, notes and stills. It keeps nothing of l.
func (x *memIndex) adopt(seg *indexed, l *listing) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, n := range l.notes {
		x.noteLocked(n, seg.number)
	}
	x.installLocked(seg, l)
}

// install gives a full segment's listing to the series, packed; it keeps nothing of it. What they had of the segment while it was written
// is given up.
func (x *memIndex) install(seg *indexed, l *listing) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.installLocked(seg, l)
}

func (x *memIndex) installLocked(seg *indexed, l *listing) {
	seg.list = make([]spot, 0, len(l.list))
	for _, run := range l.runs {
		s := x.seriesLocked(run.key)
		for i := range s.tails {
			if s.tails[i].seg == seg {
				s.tails[i] = tail{}
			}
		}
		for list := l.list[run.lo:run.hi]; len(list) > 0; {
			lo := uint32(len(seg.list))
			seg.list = pack(list, seg.list)
			n := uint32(len(seg.list)) - lo
			x.partLocked(s, part{seg, lo, lo + n, list[0].time, list[n-1].time})
			list = list[n:]
		}
	}
}

// partLocked puts a part in its place among those of its series.
func (x *memIndex) partLocked(s *series, p part) {
	at := len(s.parts)
	for at > 0 && s.parts[at-1].seg.number > p.seg.number {
		at--
	}
	if n := len(s.parts); n == cap(s.parts) {
		s.parts = slices.Insert(make([]part, 0, x.loading.expect(n)), 0, s.parts...)
	}
	s.parts = slices.Insert(s.parts, at, p)
	s.mixed = s.mixed || !s.follows(at) || !s.follows(at+1)
}

func (x *memIndex) seriesLocked(k seriesKey) *series {
	s := x.series[k]
	if s == nil {
		s = &series{}
		x.series[k] = s
	}
	return s
}

// forget takes a damaged still out.
func (x *memIndex) forget(key seriesKey, loc location) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if s := x.series[key]; s != nil {
		s.forget(loc)
	}
}

// drop takes a segment's stills and notes out. A series that loses its last still is owed a note, so that it can still be told
// pruned from never recorded; and so is a gap that lasts. No more than most of those are returned, to be added with a segment of which
// they are.
func (x *memIndex) drop(seg *indexed, most int) (owed []note) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.round = true
	for k, s := range x.series {
		had := s.drop(seg)
		if !s.pruned || !had && x.marks[k] != seg.number || !s.empty() || len(owed) >= most {
			continue
		}
		owed = append(owed, note{kind: typePruned, stream: k.kind, camera: k.camera, from: s.prunedTo})
	}
	for camera, list := range x.gaps {
		for _, g := range list {
			if g.segment == seg.number && g.to == noEnd && len(owed) < most {
				owed = append(owed, note{kind: typeGap, camera: camera, from: g.from, to: g.to, reason: g.reason})
			}
		}
	}
	x.dropGapsLocked(seg.number)
	seg.list, seg.gone = nil, true
	return owed
}
