package reporter

import (
	"context"
	"math"
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
		now := time.Now()
		s.dispatch(ctx, work, now)
		s.wait(ctx, now)
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

// dispatch starts lanes for what may be sent at now, unless the gate is closed or all lanes are taken.
func (s *run) dispatch(ctx, work context.Context, now time.Time) {
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

// wait returns when dispatch may have something to do that it had not at now. It looks at what dispatch saw: a pause that ended in
// between has not been used.
func (s *run) wait(ctx context.Context, now time.Time) {
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
