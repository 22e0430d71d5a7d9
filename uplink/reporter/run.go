package reporter

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"
)

// run is the state of one Run. One goroutine owns it; lanes send it their results.
type run struct {
	*Reporter
	gate    gate
	backlog *stream // all that waits; while there is a fresh one, what entered the outbox up to boundary
	fresh   *stream // what entered later, nil if nothing needs to go ahead
	split
	busy    map[key]uint64      // what lanes are serving: the last place of each
	flying  map[uint64]struct{} // places that lanes are serving
	resting map[key]*trouble    // actors whose first event failed by itself
	results chan result
	lanes   sync.WaitGroup
	blame   blame
	taken   uint64    // events accepted
	nextAt  time.Time // when the outbox is tried again, after it could not be read or changed
	alone   bool      // with one lane only, whether the last one was for what is fresh
	doubted bool      // the outbox may hold something that was read and is neither in a stream nor flying
	greeted bool      // Options.Greet is done
	greets  bool      // it is under way
}

const (
	maxPlaces = 1 << 16 // places kept of a stream
	scanAt    = 4096    // places read in one go
	bulkLanes = 4       // lanes at once that send many events at once: each holds some megabytes of them
)

// Run reports until ctx is done, then lets requests under way finish within Options.Drain. It returns ctx's error.
func (r *Reporter) Run(ctx context.Context) error {
	work, stop := drainContext(ctx, r.opts.Drain)
	defer stop()
	s := &run{
		Reporter: r, gate: newGate(r.opts), backlog: newStream(0), split: split{boundary: math.MaxUint64},
		busy: map[key]uint64{}, flying: map[uint64]struct{}{}, resting: map[key]*trouble{},
		results: make(chan result, r.opts.Concurrency), blame: blame{}, greeted: r.opts.Greet == nil,
	}
	defer r.setStatus(func(st *Status) { st.State, st.NextTry = Stopped, time.Time{} })
	s.mark(time.Now())
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

// dispatch starts lanes for what waits, unless the gate is closed or all lanes are taken.
func (s *run) dispatch(ctx, work context.Context) {
	now := time.Now()
	limit := s.gate.limit(now, s.opts.Concurrency)
	if s.many != nil && s.many.AtOnce() > 1 {
		limit = min(limit, bulkLanes)
	}
	if limit > 0 && !s.greeted {
		s.greet(work)
	}
	if now.Before(s.nextAt) || !s.greeted {
		limit = 0
	}
	if limit > 0 {
		s.read(now)
		if !s.gate.probing() { // an outage is no slowness
			s.divide(now)
		}
	}
	for len(s.busy) < limit {
		k, ok := s.pick(now, limit)
		if !ok {
			break
		}
		s.start(ctx, work, k, now)
	}
	s.show()
}

// greet calls Options.Greet, unless that is under way.
func (s *run) greet(ctx context.Context) {
	if s.greets {
		return
	}
	s.greets = true
	epoch := s.gate.epoch
	s.lanes.Go(func() { s.results <- result{greeting: true, err: s.opts.Greet(ctx), epoch: epoch} })
}

// welcome takes in what Options.Greet did.
func (s *run) welcome(res result) {
	s.greets, s.greeted = false, res.err == nil
	if s.greeted {
		s.opened(res)
	} else {
		s.fault(res.err)
		s.closed(res, faultOf(res.err))
	}
	s.show()
}

// pick chooses what to serve. With a backlog, what is fresh goes first, and neither gets more than three lanes of four: there is one for
// whatever happens next, and the backlog goes on. A single lane they take in turns.
func (s *run) pick(now time.Time, limit int) (key, bool) {
	order := []bool{false}
	if s.fresh != nil {
		order = []bool{true, false}
		if limit == 1 && s.alone {
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
			s.alone = fresh
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

// may says whether an actor's events may be sent now: no others of it are under way that stand before or among them.
func (s *run) may(k key, now time.Time) bool {
	if t := s.resting[k]; t != nil && now.Before(t.until) {
		return false
	}
	if _, ok := s.busy[k]; ok {
		return false
	}
	other, ok := s.busy[key{k.actor, !k.fresh}]
	return !ok || s.fresh != nil && (k.fresh && other <= s.boundary || !k.fresh && other > s.boundary)
}

// start serves an actor.
func (s *run) start(ctx, work context.Context, k key, now time.Time) {
	st := s.backlog
	if k.fresh {
		st = s.fresh
	}
	n := laneEvents
	t := s.resting[k]
	if t != nil || s.gate.probing() {
		n = 2
	}
	list := st.take(k.actor, n)
	chosen := list
	if t != nil {
		chosen = t.choose(list, now, s.opts.StuckAfter)
	} else if s.gate.probing() {
		chosen = s.gate.choose(list, now, s.opts.StuckAfter)
	}
	if len(chosen) < len(list) {
		for _, place := range list {
			if place != chosen[0] {
				st.giveBack(k.actor, place)
			}
		}
	}
	for _, place := range chosen {
		s.flying[place] = struct{}{}
	}
	s.busy[k] = chosen[len(chosen)-1]
	epoch := s.gate.epoch
	s.lanes.Go(func() { s.results <- s.serve(ctx, work, k, chosen, epoch) })
}

// read looks into the outbox for what has not been read.
func (s *run) read(now time.Time) {
	if s.doubted && s.idle() {
		s.backlog, s.doubted = newStream(0), false
		if s.fresh != nil {
			s.rejoin()
		}
	}
	for _, st := range []*stream{s.fresh, s.backlog} {
		for st != nil && st.more && st.size < maxPlaces {
			n, past := 0, false
			err := s.scan(st.after, scanAt, func(place uint64, actor string) {
				if n++; st == s.backlog && place > s.boundary {
					past = true
					return
				}
				st.after = place
				if _, flying := s.flying[place]; !flying {
					st.add(actor, place)
				}
			})
			if err != nil {
				s.log.Error("the outbox cannot be read; reporting tries again", "error", err)
				s.fault(err)
				s.nextAt = now.Add(s.opts.FirstPause)
				return
			}
			if st.more = n == scanAt && !past; st == s.backlog && s.fresh != nil {
				break // one piece at a time, so that what is fresh does not wait for it
			}
		}
	}
}

// idle says whether nothing is known to wait, and nothing is under way.
func (s *run) idle() bool {
	return len(s.busy) == 0 && s.backlog.size == 0 && (s.fresh == nil || s.fresh.size == 0)
}

// wait returns when dispatch may have something to do.
func (s *run) wait(ctx context.Context) {
	now := time.Now()
	until := now.Add(time.Minute) // nothing is known to need it; it makes a lost wake-up harmless
	changed := s.changed
	limit := s.gate.limit(now, s.opts.Concurrency)
	switch {
	case s.gate.closed(now):
		until = s.gate.until
		if s.gate.soonest.IsZero() || s.gate.soonest.Equal(until) {
			changed = nil // new events do not shorten the wait
		}
	case now.Before(s.nextAt):
		until = s.nextAt
	case s.backlog.more && s.backlog.size < maxPlaces && limit > 0:
		until = now // there is more to read
	case !s.idle():
		until = s.markAt.Add(s.opts.Overtake)
	}
	for _, t := range s.resting {
		if t.until.After(now) && t.until.Before(until) && !s.gate.closed(now) {
			until = t.until
		}
	}
	timer := time.NewTimer(max(time.Until(until), time.Millisecond))
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
		s.doubted = s.doubted || s.idle()
		s.wake()
	case <-changed:
		s.gate.hurry()
		s.wake()
	case res := <-s.results:
		s.finish(res)
	}
}

// wake has the newest part of the outbox read on.
func (s *run) wake() {
	if s.fresh != nil {
		s.fresh.more = true
	} else {
		s.backlog.more = true
	}
}

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
