package delivery

import (
	"context"
	"slices"
	"sync"
	"time"

	"vmsbridge/uplink/vms"
)

const (
	// maxAcks is how many acknowledgements of a lane may be on their way to the disk while it sends
	// on. They share commits.
	maxAcks = 64
	// loadSingly is how many events are read at once if they are sent one by one.
	loadSingly = 16
)

// result is what became of a lane's entries, or of Options.Open.
type result struct {
	opening  bool           // it is what became of Options.Open, not of a lane
	lost     <-chan Verdict // what Options.Open gave
	key      key
	flown    []uint64 // all places that the lane took on
	left     []uint64 // of those, the ones to be tried again
	taken    int
	broken   bool        // the store could not be read or changed
	answered bool        // the sink took or refused one: it is there
	failed   *vms.Queued // nil: all went well
	verdict  Verdict     // on it
	epoch    int         // of the gate when the lane started
}

// lane sends the entries of one lane in order.
type lane struct {
	*Engine
	res   result
	acks  sync.WaitGroup
	slots chan struct{}
	mu    sync.Mutex // guards again, and res.broken
	again []uint64   // places of what goes once more: it was renewed while it was sent, or could not be taken out
}

// serve hands over the entries at these places in order and stops at the first failure. It starts
// no new request once ctx is done; work bounds the one under way.
func (e *Engine) serve(ctx, work context.Context, k key, places []uint64, epoch int) result {
	l := &lane{Engine: e, res: result{key: k, flown: places, epoch: epoch}, slots: make(chan struct{}, maxAcks)}
	rest := places
	next := l.fetch(rest)
	for len(rest) > 0 && ctx.Err() == nil && l.res.failed == nil {
		piece := <-next
		if piece.err != nil {
			e.unreadable(piece.err)
			l.mu.Lock()
			l.res.broken = true
			l.mu.Unlock()
			break
		}
		if piece.size > loadSingly {
			next = l.fetch(rest[piece.size:]) // while these are under way
		}
		if done := l.send(ctx, work, piece.entries); done < len(piece.entries) {
			rest = rest[slices.Index(rest, piece.entries[done].Place):]
			break
		}
		rest = rest[piece.size:]
		if piece.size <= loadSingly {
			next = l.fetch(rest)
		}
	}
	l.acks.Wait() // the entries must be gone before this lane is looked at again
	l.res.left = append(slices.Clone(rest), l.again...)
	return l.res
}

// piece is what was read of the first places of a list.
type piece struct {
	entries []vms.Queued
	size    int // places
	err     error
}

// fetch reads as many entries as go at once, or a few of those that go one by one: what is read
// long before its turn may be renewed meanwhile.
func (l *lane) fetch(places []uint64) <-chan piece {
	out := make(chan piece, 1)
	n := min(len(places), l.opts.AtOnce())
	if n == 1 {
		n = min(len(places), loadSingly)
	}
	read := func() {
		entries, err := l.store.Load(places[:n])
		out <- piece{entries, n, err}
	}
	switch {
	case n == 0:
		out <- piece{}
	case n > loadSingly:
		l.acks.Go(read)
	default:
		read()
	}
	return out
}

// send hands entries over until one fails, and says how many have been dealt with.
func (l *lane) send(ctx, work context.Context, entries []vms.Queued) (done int) {
	for done < len(entries) && ctx.Err() == nil {
		verdicts := l.sink.Send(work, entries[done:min(len(entries), done+max(1, l.opts.AtOnce()))])
		good := slices.IndexFunc(verdicts, func(v Verdict) bool { return !v.Kind.Done() })
		if good < 0 {
			good = len(verdicts)
		}
		l.settle(entries[done:done+good], verdicts)
		done += good
		switch {
		case good > 0 && good == len(verdicts):
			continue
		case ctx.Err() != nil, good == len(verdicts):
			return done // cut off by the end of Run
		}
		l.res.failed, l.res.verdict = &entries[done], verdicts[good]
		l.metrics.Failed(l.res.verdict.Kind).Inc()
		return done
	}
	return done
}

// settle takes out of the store what has its verdict.
func (l *lane) settle(entries []vms.Queued, verdicts []Verdict) {
	var done []vms.Queued
	taken := 0
	for i, e := range entries {
		switch v := verdicts[i]; {
		case v.Kind != Refused:
			e.Event = vms.Event{ID: e.Event.ID} // the rest is not needed any more, and large
			done = append(done, e)
			if v.Kind == Taken {
				taken++
			}
		case !l.park(e, v.Err.Error()):
			l.mu.Lock()
			l.res.broken, l.again = true, append(l.again, e.Place)
			l.mu.Unlock()
		}
	}
	l.res.answered = l.res.answered || len(entries) > 0
	l.res.taken += len(done)
	if len(done) == 0 {
		return
	}
	l.metrics.Sent.Add(float64(taken))
	l.setStatus(func(s *Status) {
		s.Accepted += uint64(taken)
		s.LastAccepted, s.Trouble = time.Now(), ""
	})
	l.slots <- struct{}{}
	l.acks.Go(func() {
		defer func() { <-l.slots }()
		renewed, err := l.store.AckAll(done)
		if err != nil {
			// They stay in the store and go once more, which replaces them at the sink.
			l.log.Error("accepted events could not be taken out of the outbox", "events", len(done), "first",
				done[0].Event.ID, "error", err)
			for _, e := range done {
				renewed = append(renewed, e.Place)
			}
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		l.res.broken = l.res.broken || err != nil
		l.again = append(l.again, renewed...)
	})
}

// park says whether the entry could be set aside.
func (e *Engine) park(q vms.Queued, reason string) bool {
	if err := e.store.Park(q.Event.ID, q.Revision, reason); err != nil {
		e.log.Error("a refused event could not be set aside", "id", q.Event.ID, "error", err)
		return false
	}
	e.metrics.Refused.Inc()
	now, refused, loud := time.Now(), uint64(0), false
	e.mu.Lock()
	e.status.Refused++
	e.status.LastRefused = q.Event.ID + ": " + reason
	if refused = e.status.Refused; now.Sub(e.refusedAt) >= logEvery {
		e.refusedAt, loud = now, true
	}
	e.mu.Unlock()
	if loud {
		e.log.Warn("an event was refused for good"+e.opts.Kept, "id", q.Event.ID, "reason", reason, "refused", refused)
	}
	return true
}

// unreadable notes that the store cannot be read.
func (e *Engine) unreadable(err error) {
	e.log.Error("what waits cannot be read; it is tried again", "error", err)
	e.failed(Verdict{Err: err, Hint: "the journal cannot be read: see the log"})
}
