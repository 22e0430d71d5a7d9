package stills

import (
	"sync"
	"time"

	"vmsbridge/storage/stills/segment"
)

// index is which stills and gaps there are, and where. It is safe for concurrent use, and waits for
// nothing but itself: no lock of it is ever held across a call to the file system.
type index struct {
	mu     sync.RWMutex
	series map[segment.Key]*series
	gaps   map[string][]gapNote   // by camera, sorted by from
	marks  map[segment.Key]uint64 // segment with the note that the series is all pruned
	round  bool                   // segments were dropped, now or earlier
}

// newIndex is an empty index.
func newIndex() *index {
	return &index{series: map[segment.Key]*series{}, gaps: map[string][]gapNote{}, marks: map[segment.Key]uint64{}}
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
	x.seriesLocked(key).put(seg, d.Series[key])
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
		x.seriesLocked(k).put(seg, e)
	}
	for _, n := range d.Notes {
		x.noteLocked(n, seg.Number)
	}
}

// Listing is what the draft d of a segment has that is full.
func (x *index) Listing(seg *member, d *segment.Draft, wall time.Time, written int64) *segment.Listing {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return d.Listing(seg.SealTime(d, wall), written)
}

// Adopt takes a full segment that was found, notes and stills.
func (x *index) Adopt(seg *member, l *segment.Listing) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, n := range l.Notes {
		x.noteLocked(n, seg.Number)
	}
	x.installLocked(seg, l)
}

// Install gives a full segment's listing to the series, in place of what they had of the segment
// while it was written.
func (x *index) Install(seg *member, l *segment.Listing) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.installLocked(seg, l)
}

// installLocked makes the listing's entries the index' own.
func (x *index) installLocked(seg *member, l *segment.Listing) {
	entries := make([]segment.Entries, len(l.Runs))
	for i, run := range l.Runs {
		if run.Lo < run.Hi {
			entries[i].List = l.List[run.Lo:run.Hi:run.Hi]
			x.seriesLocked(run.Key).put(seg, &entries[i])
		}
	}
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
		if !s.pruned || !had && x.marks[k] != seg.Number || len(s.parts) > 0 || len(owed) >= most {
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
	seg.gone = true
	return owed
}
