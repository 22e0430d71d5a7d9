package index

import "vmsbridge/storage/stills/segment"

// Absence is what is known of a question that no still answers.
type Absence struct {
	Oldest, Newest int64 // of the stills of that camera and kind, if Kept
	Kept           bool  // there are some
	// the question is of a time before them, and some were dropped; or some were, and none is left
	Pruned bool
	Gap    *segment.Note // that covers the time asked for, the latest if several do
}

// Find is where the still is that step and at mean, but for those of some segments. If there is
// none, it says what is known of the question that was asked: op and t, of which step and at may be
// a later one.
func (x *Index) Find(key segment.Key, step Op, at int64, op Op, t int64, but ...*Segment) (Location, *Absence) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if s := x.series[key]; s != nil {
		if loc, ok := s.find(step, at, but...); ok {
			return loc, nil
		}
	}
	return Location{}, x.absenceLocked(key, op, t)
}

// Absence is what Find would say if there were no still.
func (x *Index) Absence(key segment.Key, op Op, t int64) *Absence {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.absenceLocked(key, op, t)
}

func (x *Index) absenceLocked(key segment.Key, op Op, t int64) *Absence {
	a := &Absence{Gap: x.gapAtLocked(key.Camera, t)}
	s := x.series[key]
	if s == nil {
		return a
	}
	a.Pruned = s.pruned
	if a.Oldest, a.Newest, a.Kept = s.bounds(); a.Kept {
		// Where the note is lost or was never needed, it tells that the ring has gone round.
		a.Pruned = (a.Pruned || x.round) && (op == Before || op == AtOrBefore || op == At) && t <= a.Oldest
	}
	return a
}

// Has says whether there is a still of exactly that time.
func (x *Index) Has(key segment.Key, at int64) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	s := x.series[key]
	if s == nil {
		return false
	}
	_, found := s.find(At, at)
	return found
}

// Later says whether a segment of a higher number has a still of that time.
func (x *Index) Later(key segment.Key, at int64, number uint64) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	s := x.series[key]
	return s != nil && s.later(at, number)
}

// Gone says whether a segment has left the index.
func (x *Index) Gone(seg *Segment) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return seg.gone
}

// Newest is the time of the newest still, if there is one.
func (x *Index) Newest(key segment.Key) (newest int64, ok bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	s := x.series[key]
	if s == nil {
		return 0, false
	}
	_, newest, ok = s.bounds()
	return newest, ok
}

// Totals is what an index holds.
type Totals struct {
	Series         int // that have stills
	Stills         int
	Gaps           int
	Oldest, Newest int64 // of all stills, if there are any
}

// Count walks the whole index: some milliseconds for millions of stills.
func (x *Index) Count() (n Totals) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	for _, s := range x.series {
		lo, hi, ok := s.bounds()
		if !ok {
			continue
		}
		if n.Series == 0 {
			n.Oldest, n.Newest = lo, hi
		}
		n.Series++
		n.Oldest, n.Newest = min(n.Oldest, lo), max(n.Newest, hi)
		for i := range s.parts {
			n.Stills += s.parts[i].len()
		}
		for _, tail := range s.tails {
			if tail.Entries != nil {
				n.Stills += len(tail.List)
			}
		}
	}
	for _, list := range x.gaps {
		n.Gaps += len(list)
	}
	return n
}
