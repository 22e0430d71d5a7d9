package delivery

import "time"

// finish takes in what a lane did, or Options.Open.
func (s *run) finish(res result) {
	if res.opening {
		s.welcome(res)
		return
	}
	s.land(res)
	if res.broken {
		s.nextAt = time.Now().Add(s.opts.FirstPause)
	}
	s.taken += uint64(res.taken)
	if res.answered {
		s.well()
		s.opened(res)
	}
	v := res.verdict
	if res.failed == nil {
		switch t := s.backedOff[res.key]; {
		case t == nil:
		case t.steppedOver:
			t.again() // the one behind it was taken: try it now, and park it if it fails once more
		default:
			delete(s.backedOff, res.key)
		}
		s.show()
		return
	}
	s.failed(v)
	if v.Kind != OfEvent && s.lost != nil {
		s.open, s.lost = false, nil
	}
	if v.Kind == OfEvent || v.Kind == OfSink && s.blame.again(res.failed.Event.ID, s.taken) {
		s.rest(res)
	} else {
		s.closed(res)
	}
	s.show()
}

// welcome takes in what Options.Open did.
func (s *run) welcome(res result) {
	s.opening, s.open = false, res.verdict.Kind == Taken
	if !s.open {
		s.metrics.Failed(res.verdict.Kind).Inc()
		s.failed(res.verdict)
		s.closed(res)
		s.show()
		return
	}
	if s.lost = res.lost; s.lost != nil {
		s.taken++ // the sink is well: what fails now is rather an event's fault
	}
	s.well()
	if !s.gate.byEvent {
		s.opened(res)
	}
	s.show()
}

// closed closes the gate. The end of what waits at this moment is where the backlog ends if the
// next try goes well: what happens from now on is fresh then.
func (s *run) closed(res result) {
	now := time.Now()
	closed, loud := s.gate.close(res, now)
	if closed {
		s.mark(now)
	}
	if loud {
		s.log.Warn("events are not taken; they wait", "error", res.verdict.Err, "hint", res.verdict.Hint,
			"failures", s.gate.failures, "next_try", time.Until(s.gate.until).Round(time.Millisecond))
	}
}

// opened opens the gate. What waits now is a backlog unless it goes within half of
// Options.Overtake: part of that went by until it was found that the sink is back.
func (s *run) opened(res result) {
	down, failures := s.gate.open()
	if failures == 0 {
		return
	}
	s.markAt = time.Now().Add(-s.opts.Overtake / 2)
	if !res.opening {
		s.log.Info("events are taken again", "after", down.Round(time.Millisecond), "failures", failures)
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
			st.giveBack(res.key.lane, place)
		}
	}
}

// rest lets a lane wait whose event failed by itself, or parks the event if it has had its time.
func (s *run) rest(res result) {
	t := s.backedOff[res.key]
	if t == nil || t.id != res.failed.Event.ID {
		if t != nil && t.steppedOver {
			t.pause(res.verdict, s.opts) // the event behind it failed too
			return
		}
		t = newRetryState(*res.failed, s.taken, s.opts)
		s.backedOff[res.key] = t
	}
	if t.stuck(res.verdict, s.taken, s.opts) {
		s.park(*res.failed,
			"set aside after failing for "+s.opts.StuckAfter.String()+" while others were taken: "+
				res.verdict.Err.Error())
		delete(s.backedOff, res.key)
		return
	}
	t.pause(res.verdict, s.opts)
	if t.failures == 1 {
		s.log.Warn("an event is not taken; the events behind it wait", "id", res.failed.Event.ID, "error",
			res.verdict.Err)
	}
}

// show brings Status up to date.
func (s *run) show() {
	now := time.Now()
	state, next := Idle, time.Time{}
	if len(s.busy) > 0 {
		state = Sending
	}
	for _, t := range s.backedOff {
		if len(s.busy) == 0 && (next.IsZero() || t.until.Before(next)) {
			state, next = Waiting, t.until
		}
	}
	for _, t := range s.backedOff {
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
