package delivery

import (
	"math"
	"time"
)

// split is how far the store is a backlog that what is new may overtake. As long as all that waits
// goes within Options.Overtake, there is none, and the events of an actor go strictly in order. A
// mark at the store's end tells: if something before it still waits after that time, what stands
// behind it becomes a stream of its own, goes ahead, and keeps its order within itself, as the
// backlog does. If that stream grows long in turn, as after another outage, it joins the backlog.
type split struct {
	boundary uint64 // the backlog's last place; all of them without a split
	marked   uint64 // where the store ended at markAt
	markAt   time.Time
}

// mark notes where the store ends.
func (s *run) mark(now time.Time) {
	s.markAt = now
	if place, err := s.store.LastPlace(); err == nil { // the next read says what is wrong
		s.marked = place
	}
}

// freshMost is how many events a stream of what is fresh may hold before it becomes a backlog too.
// Fewer go soon, as there is always a lane for them, also where the service is so slow that each
// takes longer than Options.Overtake.
const freshMost = 1024

// overdue says whether what was marked is a backlog, which is not to hold up what came after it.
func (s *run) overdue() bool {
	if s.fresh != nil {
		return s.fresh.ahead(s.marked, func(a string) bool { return s.isBackedOff(key{a, true}) }) > freshMost
	}
	return s.flies(0, s.marked) ||
		!s.backlog.drained(s.marked, func(a string) bool { return s.isBackedOff(key{a, false}) })
}

// divide makes what is new a stream of its own, and one again of both once the backlog is gone.
func (s *run) divide(now time.Time) {
	if s.fresh != nil && !s.flies(0, s.boundary) &&
		s.backlog.drained(s.boundary, func(a string) bool { return s.isBackedOff(key{a, false}) }) {
		s.rejoin()
	}
	if now.Sub(s.markAt) < s.opts.Overtake {
		return
	}
	if s.overdue() {
		if s.fresh != nil {
			s.backlog.more = true // on to the new boundary
		} else {
			s.backlog.cut(s.marked)
		}
		s.boundary, s.fresh = s.marked, newStream(s.marked)
		for k, t := range s.backedOff {
			s.rekey(k, t, key{k.lane, t.place > s.boundary})
		}
		s.read(now)
	}
	s.mark(now)
}

// rejoin ends the split.
func (s *run) rejoin() {
	s.backlog.join(s.fresh)
	s.fresh, s.boundary = nil, math.MaxUint64
	for k, t := range s.backedOff {
		s.rekey(k, t, key{k.lane, false})
	}
}

// rekey moves an actor's trouble to the stream in which its event stands now; the one that is there
// already stays.
func (s *run) rekey(from key, t *retryState, to key) {
	if from == to {
		return
	}
	delete(s.backedOff, from)
	if s.backedOff[to] == nil {
		s.backedOff[to] = t
	}
}

func (s *run) isBackedOff(k key) bool { return s.backedOff[k] != nil }

// flies says whether something after one place and up to another is under way.
func (s *run) flies(after, upTo uint64) bool {
	for place := range s.flying {
		if place > after && place <= upTo {
			return true
		}
	}
	return false
}
