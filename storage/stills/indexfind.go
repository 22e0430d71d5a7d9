package stills

import (
	"math"

	"vmsbridge/storage/stills/segment"
)

// Find is where the still is that step and at mean, but for those of some segments. If there is
// none, it says what is known of the question that was asked: op and t, of which step and at may
// be a later one.
func (x *index) Find(key segment.Key, step Op, at int64, op Op, t int64, but ...*member) (location, *NoneError) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if s := x.series[key]; s != nil {
		if loc, ok := s.find(step, at, but...); ok {
			return loc, nil
		}
	}
	return location{}, x.absenceLocked(key, op, t)
}

// Absence is what Find would say if there were no still.
func (x *index) Absence(key segment.Key, op Op, t int64) *NoneError {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.absenceLocked(key, op, t)
}

// absenceLocked says why a question of key has no answer.
func (x *index) absenceLocked(key segment.Key, op Op, t int64) *NoneError {
	e := &NoneError{Camera: key.Camera, Kind: key.Kind, Reason: ReasonNever}
	pruned := false
	if s := x.series[key]; s != nil {
		// Where its note is lost or was never needed, it tells that the ring has gone round.
		pruned = s.pruned
		if oldest, newest, kept := s.bounds(); kept {
			e.Oldest, e.Newest, e.Reason = segment.Time(oldest), segment.Time(newest), ReasonNothing
			pruned = (pruned || x.round) && (op == Before || op == AtOrBefore || op == At) && t <= oldest
		}
	}
	if gap := x.gapAtLocked(key.Camera, t); gap != nil {
		e.Gap, e.Reason = gap, ReasonOffline
	} else if pruned {
		e.Reason = ReasonPruned
	}
	return e
}

// Has says whether there is a still of exactly that time.
func (x *index) Has(key segment.Key, at int64) bool {
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
func (x *index) Later(key segment.Key, at int64, number uint64) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	s := x.series[key]
	return s != nil && s.later(at, number)
}

// Gone says whether a segment has left the index.
func (x *index) Gone(seg *member) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return seg.gone
}

// Newest is the time of the newest still, if there is one.
func (x *index) Newest(key segment.Key) (newest int64, ok bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	s := x.series[key]
	if s == nil {
		return 0, false
	}
	_, newest, ok = s.bounds()
	return newest, ok
}

// Count fills in what the index holds. It walks all of it: some milliseconds for millions of
// stills.
func (x *index) Count(st *Stats) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	oldest, newest := int64(math.MaxInt64), int64(math.MinInt64)
	for _, s := range x.series {
		lo, hi, ok := s.bounds()
		if !ok {
			continue
		}
		st.Series++
		oldest, newest = min(oldest, lo), max(newest, hi)
		for i := range s.parts {
			st.Stills += len(s.parts[i].List)
		}
	}
	if st.Series > 0 {
		st.Oldest, st.Newest = segment.Time(oldest), segment.Time(newest)
	}
	for _, list := range x.gaps {
		st.Gaps += len(list)
	}
}
