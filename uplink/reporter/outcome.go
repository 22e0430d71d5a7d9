package reporter

import "time"

// finish takes in what a lane did.
func (s *run) finish(res result) {
	if res.greeting {
		s.welcome(res)
		return
	}
	s.land(res)
	if res.broken {
		s.nextAt = time.Now().Add(s.opts.FirstPause)
	}
	s.taken += uint64(res.taken)
	if res.answered {
		s.opened(res)
	}
	if res.failed == nil {
		switch t := s.resting[res.key]; {
		case t == nil:
		case t.steppedOver:
			t.again() // the one behind it was taken: try it now, and park it if it fails once more
		default:
			delete(s.resting, res.key)
		}
		s.show()
		return
	}
	s.fault(res.err)
	switch f := faultOf(res.err); {
	case f == ofEvent, f == ofService && s.blame.again(res.failed.Event.ID, s.taken):
		s.rest(res)
	default:
		s.closed(res, f)
	}
	s.show()
}

// closed closes the gate. The outbox's end at this moment is where the backlog ends if the next try goes well: what happens from now on
// is fresh then.
func (s *run) closed(res result, f fault) {
	now := time.Now()
	closed, loud := s.gate.close(res, f, now)
	if closed {
		s.mark(now)
	}
	if loud {
		s.log.Warn("the service does not take events; they wait in the outbox", "error", res.err,
			"failures", s.gate.failures, "next_try", time.Until(s.gate.until).Round(time.Millisecond))
	}
}

// opened opens the gate. What waits now is a backlog unless it goes within half of Options.Overtake: part of that went by until it was
// found that the service is back.
func (s *run) opened(res result) {
	down, failures := s.gate.open()
	if failures == 0 {
		return
	}
	s.markAt = time.Now().Add(-s.opts.Overtake / 2)
	if !res.greeting {
		s.log.Info("the service takes events again", "after", down.Round(time.Millisecond), "failures", failures)
	}
}

// land gives back what a lane has not dealt with.
func (s *run) land(res result) {
	delete(s.busy, res.key)
	for _, place := range res.flown {
		delete(s.flying, place)
	}
	for _, place := range res.left {
		st := s.backlog
		if s.fresh != nil && place > s.boundary {
			st = s.fresh
		}
		if place <= st.after { // else it is still to be read
			st.giveBack(res.key.actor, place)
		}
	}
}

// rest lets an actor wait whose event failed by itself, or parks the event if it has had its time.
func (s *run) rest(res result) {
	t := s.resting[res.key]
	if t == nil || t.id != res.failed.Event.ID {
		if t != nil && t.steppedOver {
			t.pause(res.err, s.opts) // the event behind it failed too
			return
		}
		t = newTrouble(*res.failed, s.taken, s.opts)
		s.resting[res.key] = t
	}
	if time.Since(t.first) >= s.opts.StuckAfter && s.taken > t.takenBefore {
		s.parkEntry(*res.failed, "set aside after failing for "+s.opts.StuckAfter.String()+" while others were taken: "+res.err.Error())
		delete(s.resting, res.key)
		return
	}
	t.pause(res.err, s.opts)
	if t.failures == 1 {
		s.log.Warn("the service does not take an event; its actor's events wait", "id", res.failed.Event.ID, "error", res.err)
	}
}

// show brings Status up to date.
func (s *run) show() {
	now := time.Now()
	state, next := Idle, time.Time{}
	if len(s.busy) > 0 {
		state = Sending
	}
	for _, t := range s.resting {
		if len(s.busy) == 0 && (next.IsZero() || t.until.Before(next)) {
			state, next = Waiting, t.until
		}
	}
	for _, t := range s.resting {
		if t.forbidden {
			state = Forbidden
		}
	}
	if s.gate.closed(now) {
		state, next = Waiting, s.gate.until
		if s.gate.unauthorized {
			state = Unauthorized
		}
	}
	s.setStatus(func(st *Status) { st.State, st.NextTry, st.Failures = state, next, s.gate.failures })
}

func (s *run) fault(err error) {
	s.setStatus(func(st *Status) { st.LastError, st.LastErrorAt = err.Error(), time.Now() })
}
