package delivery

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"
)

// run is the state of one Run. One goroutine owns it; lanes send it their results.
type run struct {
	*Engine
	gate    gate
	backlog *stream // all that waits; while there is a fresh one, what entered the store up to boundary
	fresh   *stream // what entered later, nil if nothing needs to go ahead
	split
	busy      map[key]uint64      // what lanes are serving: the last place of each
	flying    map[uint64]struct{} // places that lanes are serving
	backedOff map[key]*retryState // lanes whose first event failed by itself
	results   chan result
	lanes     sync.WaitGroup
	blame     blame
	taken     uint64         // events accepted, and times that the sink was opened
	nextAt    time.Time      // when the store is tried again, after it could not be read or changed
	inTurn    bool           // with one lane only, whether the last one was for what is fresh
	doubted   bool           // the store may hold something that was read and is neither in a stream nor flying
	open      bool           // Options.Open is done
	opening   bool           // it is under way
	lost      <-chan Verdict // of the last Options.Open
}

const (
	scanAt    = 4096 // places read in one go
	bulkLanes = 4    // lanes at once that send many events at once: each holds some megabytes of them
)

// Run hands over until ctx is done, then lets requests under way finish within Options.Drain. It
// returns ctx's error.
func (e *Engine) Run(ctx context.Context) error {
	work, stop := drainContext(ctx, e.opts.Drain)
	defer stop()
	s := &run{
		Engine: e, gate: newGate(e.opts), backlog: newStream(0), split: split{boundary: math.MaxUint64},
		busy: map[key]uint64{}, flying: map[uint64]struct{}{}, backedOff: map[key]*retryState{},
		results: make(chan result, e.opts.Concurrency), blame: blame{}, open: e.opts.Open == nil,
	}
	defer e.setStatus(func(st *Status) { st.State, st.NextTry = Stopped, time.Time{} })
	s.mark(time.Now())
	sending := ctx
	if e.opts.DrainWaiting {
		sending = work
	}
	for ctx.Err() == nil {
		now := time.Now()
		s.dispatch(sending, work, now)
		s.wait(ctx, now)
	}
	if e.opts.DrainWaiting {
		s.drainWaiting(work)
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

// drainWaiting hands over what waits, as far as the sink takes it.
func (s *run) drainWaiting(work context.Context) {
	s.wake()
	for work.Err() == nil && s.open && !s.gate.probing() {
		now := time.Now()
		s.dispatch(work, work, now)
		if len(s.busy) == 0 {
			return
		}
		s.wait(work, now)
	}
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

// dispatch starts lanes for what may be sent at now, unless the gate is closed or all lanes are
// taken.
func (s *run) dispatch(ctx, work context.Context, now time.Time) {
	limit := s.gate.limit(now, s.opts.Concurrency)
	if s.opts.AtOnce() > 1 {
		limit = min(limit, bulkLanes)
	}
	if limit > 0 && !s.open && ctx.Err() == nil {
		s.openSink(work)
	}
	if now.Before(s.nextAt) || !s.open {
		limit = 0
	}
	if limit > 0 {
		s.read(now)
		if !s.gate.probing() && !s.opts.Strict { // an outage is no slowness
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

// openSink calls Options.Open, unless that is under way.
func (s *run) openSink(ctx context.Context) {
	if s.opening {
		return
	}
	s.opening = true
	epoch := s.gate.epoch
	s.lanes.Go(func() {
		lost, v := s.opts.Open(ctx)
		s.results <- result{opening: true, lost: lost, verdict: v, epoch: epoch}
	})
}

// start serves a lane.
func (s *run) start(ctx, work context.Context, k key, now time.Time) {
	st := s.backlog
	if k.fresh {
		st = s.fresh
	}
	n := s.opts.Turn
	t := s.backedOff[k]
	if t != nil || s.gate.probing() {
		n = 2
	}
	list := st.take(k.lane, n)
	chosen := list
	if t != nil {
		chosen = t.choose(list, now, s.opts, func() bool { return s.alone(k, st) })
	} else if s.gate.probing() {
		chosen = s.gate.choose(list, now)
	}
	if len(chosen) < len(list) {
		for _, place := range list {
			if place != chosen[0] {
				st.giveBack(k.lane, place)
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

// alone says whether nothing of another lane waits or is under way.
func (s *run) alone(k key, st *stream) bool {
	return len(s.busy) == 0 && !slices.ContainsFunc(st.turns, func(lane string) bool { return lane != k.lane })
}

// read looks into the store for what has not been read.
func (s *run) read(now time.Time) {
	if s.doubted && s.idle() {
		s.backlog, s.doubted = newStream(0), false
		if s.fresh != nil {
			s.rejoin()
		}
	}
	for _, st := range []*stream{s.fresh, s.backlog} {
		for st != nil && st.more && st.size < s.opts.Window {
			n, most, past := 0, min(scanAt, s.opts.Window), false
			err := s.store.Scan(st.after, most, func(place uint64, lane string) {
				if n++; st == s.backlog && place > s.boundary {
					past = true
					return
				}
				st.after = place
				if _, flying := s.flying[place]; !flying {
					st.add(lane, place)
				}
			})
			if err != nil {
				s.unreadable(err)
				s.nextAt = now.Add(s.opts.FirstPause)
				return
			}
			if st.more = n == most && !past; st == s.backlog && s.fresh != nil {
				break // one piece at a time, so that what is fresh does not wait for it
			}
		}
	}
}

// idle says whether nothing is known to wait, and nothing is under way.
func (s *run) idle() bool {
	return len(s.busy) == 0 && s.backlog.size == 0 && (s.fresh == nil || s.fresh.size == 0)
}

// wait returns when dispatch may have something to do that it had not at now. It looks at what
// dispatch saw: a pause that ended in between has not been used.
func (s *run) wait(ctx context.Context, now time.Time) {
	until := now.Add(time.Minute) // nothing is known to need it; it makes a lost wake-up harmless
	changed := s.store.Changed()
	limit := s.gate.limit(now, s.opts.Concurrency)
	switch {
	case s.gate.closed(now):
		until = s.gate.until
		if s.gate.soonest.IsZero() || s.gate.soonest.Equal(until) {
			changed = nil // new events do not shorten the wait
		}
	case now.Before(s.nextAt):
		until = s.nextAt
	case s.backlog.more && s.backlog.size < s.opts.Window && limit > 0:
		until = now // there is more to read
	case !s.idle():
		until = s.markAt.Add(s.opts.Overtake)
	}
	for _, t := range s.backedOff {
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
		s.gate.shortenPause()
		s.wake()
	case res := <-s.results:
		s.finish(res)
	case v := <-s.lost:
		s.open, s.lost = false, nil
		s.metrics.Failed(v.Kind).Inc()
		s.failed(v)
		s.closed(result{opening: v.Hint == "", verdict: v, epoch: s.gate.epoch})
		s.show()
	}
}

// wake has the newest part of the store read on.
func (s *run) wake() {
	if s.fresh != nil {
		s.fresh.more = true
	} else {
		s.backlog.more = true
	}
}
