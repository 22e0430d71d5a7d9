package reporter

import (
	"context"
	"slices"
	"sync"
	"time"
)

// run is the state of one Run. One goroutine owns it; lanes send it their results.
type run struct {
	*Reporter
	gate    gate
	busy    map[string]bool     // actors that a lane is serving
	resting map[string]*trouble // actors whose first event failed by itself
	results chan result
	lanes   sync.WaitGroup
	blame   blame
	taken   uint64    // events accepted
	ready   []backlog // read, and waiting for a lane
	readAt  time.Time // when it was
	nextAt  time.Time // when the outbox may be read again
	dirty   bool      // the outbox may hold something that is neither in ready nor being served
}

// result is what became of a lane's entries.
type result struct {
	actor    string
	taken    int
	answered bool   // the service took or refused one: it is there
	failed   *Entry // nil: all went well
	err      error
	epoch    int // of the gate when the lane started
}

// Run reports until ctx is done, then lets requests under way finish within Options.Drain. It returns ctx's error.
func (r *Reporter) Run(ctx context.Context) error {
	work, stop := drainContext(ctx, r.opts.Drain)
	defer stop()
	s := &run{
		Reporter: r, gate: newGate(r.opts), busy: map[string]bool{}, resting: map[string]*trouble{},
		results: make(chan result, r.opts.Concurrency), blame: blame{}, dirty: true,
	}
	defer r.setStatus(func(st *Status) { st.State, st.NextTry = Stopped, time.Time{} })
	for ctx.Err() == nil {
		s.dispatch(ctx, work)
		s.wait(ctx)
	}
	go func() {
		s.lanes.Wait()
		close(s.results)
	}()
	for res := range s.results {
		s.finish(res)
	}
	return context.Cause(ctx)
}

// drainContext lives for d longer than ctx.
func drainContext(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
			cancel()
		case <-work.Done():
		}
	})
	return work, func() { stop(); cancel() }
}

// backlog is what waits of one actor, as it was read.
type backlog struct {
	actor   string
	entries []Entry
}

// maxAge is how old what was read may get before it is read again: an event may be renewed or dropped meanwhile.
const maxAge = time.Second

// dispatch starts lanes for what waits, unless the gate is closed or all lanes are taken.
func (s *run) dispatch(ctx, work context.Context) {
	now := time.Now()
	limit := s.gate.limit(now, s.opts.Concurrency)
	if limit == 0 || now.Sub(s.readAt) > maxAge {
		s.dirty = s.dirty || len(s.ready) > 0
		s.ready = nil
	}
	if len(s.busy) < limit && len(s.ready) == 0 && s.dirty && !now.Before(s.nextAt) {
		s.read(now)
	}
	for len(s.busy) < limit && len(s.ready) > 0 {
		i := s.gate.probe(len(s.ready))
		next := s.ready[i]
		s.ready = slices.Delete(s.ready, i, i+1)
		list := next.entries
		if t := s.resting[next.actor]; t != nil {
			list = t.choose(list, now, s.opts.StuckAfter)
		} else if s.gate.probing() {
			list = s.gate.choose(list, now, s.opts.StuckAfter)
		}
		s.busy[next.actor] = true
		epoch := s.gate.epoch
		s.lanes.Go(func() { s.results <- s.serve(ctx, work, next.actor, list, epoch) })
	}
	s.show()
}

// read looks into the outbox for actors that are neither being served nor resting.
func (s *run) read(now time.Time) {
	entries, err := s.peek(batch, func(actor string) bool {
		t := s.resting[actor]
		return s.busy[actor] || (t != nil && now.Before(t.until))
	})
	if err != nil {
		s.log.Error("the outbox cannot be read; reporting tries again", "error", err)
		s.fault(err)
		s.nextAt = now.Add(s.opts.FirstPause)
		return
	}
	// A long backlog of busy actors makes this slow: spend at most a fifth of the time on it.
	s.readAt = time.Now()
	s.nextAt = s.readAt.Add(4 * s.readAt.Sub(now))
	s.dirty = len(entries) == batch
	place := map[string]int{}
	for _, e := range entries {
		i, ok := place[e.Event.ActorID]
		if !ok {
			i = len(s.ready)
			place[e.Event.ActorID] = i
			s.ready = append(s.ready, backlog{actor: e.Event.ActorID})
		}
		s.ready[i].entries = append(s.ready[i].entries, e)
	}
}

// wait returns when dispatch may have something to do.
func (s *run) wait(ctx context.Context) {
	now := time.Now()
	until := now.Add(time.Minute) // nothing is known to need it; it makes a lost wake-up harmless
	changed := s.changed
	if s.gate.closed(now) {
		until = s.gate.until
		changed = nil // new events do not shorten the wait
	} else if s.dirty && len(s.ready) == 0 && len(s.busy) < s.gate.limit(now, s.opts.Concurrency) {
		until = s.nextAt
	}
	for _, t := range s.resting {
		if t.until.After(now) && t.until.Before(until) && !s.gate.closed(now) {
			until = t.until
		}
	}
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
		s.dirty = true
	case <-changed:
		s.dirty = true
	case res := <-s.results:
		s.finish(res)
	}
}

// finish takes in what a lane did.
func (s *run) finish(res result) {
	delete(s.busy, res.actor)
	s.dirty = true
	s.taken += uint64(res.taken)
	if res.answered {
		if down, failures := s.gate.open(); failures > 0 {
			s.log.Info("the service takes events again", "after", down.Round(time.Millisecond), "failures", failures)
		}
	}
	if res.failed == nil {
		switch t := s.resting[res.actor]; {
		case t == nil:
		case t.steppedOver:
			t.again() // the one behind it was taken: try it now, and park it if it fails once more
		default:
			delete(s.resting, res.actor)
		}
		s.show()
		return
	}
	s.fault(res.err)
	switch f := faultOf(res.err); {
	case f == ofEvent, f == ofService && s.blame.again(res.failed.Event.ID, s.taken):
		s.rest(res)
	default:
		if s.gate.close(res.epoch, f, res.err, time.Now()) {
			s.log.Warn("the service does not take events; they wait in the outbox", "error", res.err,
				"failures", s.gate.failures, "next_try", time.Until(s.gate.until).Round(time.Millisecond))
		}
	}
	s.show()
}

// rest lets an actor wait whose event failed by itself, or parks the event if it has had its time.
func (s *run) rest(res result) {
	t := s.resting[res.actor]
	if t == nil || t.id != res.failed.Event.ID {
		if t != nil && t.steppedOver {
			t.pause(res.err, s.opts) // the event behind it failed too
			return
		}
		t = newTrouble(*res.failed, s.taken, s.opts)
		s.resting[res.actor] = t
	}
	if time.Since(t.first) >= s.opts.StuckAfter && s.taken > t.takenBefore {
		s.parkEntry(*res.failed, "set aside after failing for "+s.opts.StuckAfter.String()+" while others were taken: "+res.err.Error())
		delete(s.resting, res.actor)
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
