package stills

// absence is what is known of a question that no still answers.
type absence struct {
	oldest, newest int64 // of the stills of that camera and kind, if kept
	kept           bool  // there are some
	pruned         bool  // the question is of a time before them, and some were dropped; or some were, and none is left
	gap            *note // that covers the time asked for, the latest if several do
}

// find is where the still is that step and at mean, but for those of some segments. If there is none, it says what is known of the question
// that was asked: op and t, of which step and at may be a later one.
func (x *memIndex) find(key seriesKey, step Op, at int64, op Op, t int64, but ...*indexed) (location, *absence) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if s := x.series[key]; s != nil {
		if loc, ok := s.find(step, at, but...); ok {
			return loc, nil
		}
	}
	return location{}, x.absenceLocked(key, op, t)
}

// absence is what find would say if there were no still.
func (x *memIndex) absence(key seriesKey, op Op, t int64) *absence {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.absenceLocked(key, op, t)
}

func (x *memIndex) absenceLocked(key seriesKey, op Op, t int64) *absence {
	a := &absence{gap: x.gapAtLocked(key.camera, t)}
	s := x.series[key]
	if s == nil {
		return a
	}
	a.pruned = s.pruned
	if a.oldest, a.newest, a.kept = s.bounds(); a.kept {
		// Where the note is lost or was never needed, it tells that the ring has gone round.
		a.pruned = (a.pruned || x.round) && (op == Before || op == AtOrBefore || op == At) && t <= a.oldest
	}
	return a
}

// has says whether there is a still of exactly that time.
func (x *memIndex) has(key seriesKey, at int64) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	s := x.series[key]
	if s == nil {
		return false
	}
	_, found := s.find(At, at)
	return found
}

// later says whether a segment of a higher number has a still of that time.
func (x *memIndex) later(key seriesKey, at int64, number uint64) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	s := x.series[key]
	return s != nil && s.later(at, number)
}

// isGone says whether a segment has left the index.
func (x *memIndex) isGone(seg *indexed) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return seg.gone
}

// newest is the time of the newest still, if there is one.
func (x *memIndex) newest(key seriesKey) (newest int64, ok bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	s := x.series[key]
	if s == nil {
		return 0, false
	}
	_, newest, ok = s.bounds()
	return newest, ok
}

// totals is what an index holds.
type totals struct {
	series         int // that have stills
	stills         int
	gaps           int
	oldest, newest int64 // of all stills, if there are any
}

// count walks the whole index: some milliseconds for millions of stills.
func (x *memIndex) count() (n totals) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	for _, s := range x.series {
		lo, hi, ok := s.bounds()
		if !ok {
			continue
		}
		if n.series == 0 {
			n.oldest, n.newest = lo, hi
		}
		n.series++
		n.oldest, n.newest = min(n.oldest, lo), max(n.newest, hi)
		for i := range s.parts {
			n.stills += s.parts[i].len()
		}
		for _, tail := range s.tails {
			if tail.entries != nil {
				n.stills += len(tail.list)
			}
		}
	}
	for _, list := range x.gaps {
		n.gaps += len(list)
	}
	return n
}
