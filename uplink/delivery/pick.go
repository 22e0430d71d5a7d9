package delivery

import (
	"slices"
	"time"
)

// pick chooses what to serve. With a backlog, what is fresh goes first, and neither gets more than
// three lanes of four: there is one for whatever happens next, and the backlog goes on. A single
// lane they take in turns.
func (s *run) pick(now time.Time, limit int) (key, bool) {
	order := []bool{false}
	if s.fresh != nil {
		order = []bool{true, false}
		if limit == 1 && s.inTurn {
			order = []bool{false, true}
		}
		if share := max(1, limit*3/4); limit > 1 {
			order = slices.DeleteFunc(order, func(fresh bool) bool { return s.lanesOf(fresh) >= share })
		}
	}
	for _, fresh := range order {
		st := s.backlog
		if fresh {
			st = s.fresh
		}
		skip := 0
		if s.gate.probing() {
			skip = s.gate.probe()
		}
		if actor, ok := st.next(skip, func(a string) bool { return s.may(key{a, fresh}, now) }); ok {
			s.inTurn = fresh
			return key{actor, fresh}, true
		}
	}
	return key{}, false
}

func (s *run) lanesOf(fresh bool) (n int) {
	for k := range s.busy {
		if k.fresh == fresh {
			n++
		}
	}
	return n
}

// may says whether an actor's events may be sent now: no others of it are under way that stand
// before or among them.
func (s *run) may(k key, now time.Time) bool {
	if t := s.backedOff[k]; t != nil && now.Before(t.until) {
		return false
	}
	if _, ok := s.busy[k]; ok {
		return false
	}
	other, ok := s.busy[key{k.lane, !k.fresh}]
	return !ok || s.fresh != nil && (k.fresh && other <= s.boundary || !k.fresh && other > s.boundary)
}
