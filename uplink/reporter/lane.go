package reporter

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"vmsbridge/uplink/vms"
)

const (
	// maxAcks is how many acknowledgements of a lane may be on their way to the disk while it sends on. They share commits.
	maxAcks = 64
	// laneEvents is how many events a lane takes on. Another lane may run for the actor only when it is done.
	laneEvents = 1024
	// loadSingly is how many events are read at once if they are sent one by one.
	loadSingly = 16
)

// result is what became of a lane's entries.
type result struct {
	greeting bool // it is what became of Options.Greet, not of a lane
	key      key
	flown    []uint64 // all places that the lane took on
	left     []uint64 // of those, the ones to be tried again
	taken    int
	broken   bool   // the outbox could not be read or changed
	answered bool   // the service took or refused one: it is there
	failed   *Entry // nil: all went well
	err      error
	epoch    int // of the gate when the lane started
}

// lane sends one actor's entries in order.
type lane struct {
	*Reporter
	res   result
	acks  sync.WaitGroup
	slots chan struct{}
	mu    sync.Mutex // guards again, and res.broken
	again []uint64   // places of what goes once more: it was renewed while it was sent, or could not be taken out
}

// serve reports the entries at these places in order and stops at the first failure. It starts no new request once ctx is
// done; work bounds the one under way.
func (r *Reporter) serve(ctx, work context.Context, k key, places []uint64, epoch int) result {
	l := &lane{Reporter: r, res: result{key: k, flown: places, epoch: epoch}, slots: make(chan struct{}, maxAcks)}
	rest := places
	next := l.fetch(rest)
	for len(rest) > 0 && ctx.Err() == nil && l.res.failed == nil {
		piece := <-next
		if piece.err != nil {
			r.log.Error("the outbox cannot be read; reporting tries again", "error", piece.err)
			r.setStatus(func(st *Status) { st.LastError, st.LastErrorAt = piece.err.Error(), time.Now() })
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
	l.acks.Wait() // the entries must be gone before this actor is looked at again
	l.res.left = append(slices.Clone(rest), l.again...)
	return l.res
}

// piece is what was read of the first places of a list.
type piece struct {
	entries []Entry
	size    int // places
	err     error
}

// fetch reads as many entries as go at once, or a few of those that go one by one: what is read long before its turn may be
// renewed meanwhile.
func (l *lane) fetch(places []uint64) <-chan piece {
	out := make(chan piece, 1)
	n := min(len(places), l.atOnce())
	if n == 1 {
		n = min(len(places), loadSingly)
	}
	read := func() {
		entries, err := l.load(places[:n])
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

func (l *lane) atOnce() int {
	if l.many == nil {
		return 1
	}
	return max(1, l.many.AtOnce())
}

// send reports entries until one fails, and says how many have been dealt with.
func (l *lane) send(ctx, work context.Context, entries []Entry) (done int) {
	for done < len(entries) && ctx.Err() == nil {
		verdicts, err := l.report(work, entries[done:min(len(entries), done+l.atOnce())])
		l.settle(entries[done:done+len(verdicts)], verdicts)
		done += len(verdicts)
		switch {
		case err == nil:
			continue
		case ctx.Err() != nil:
			return done // cut off by the end of Run
		}
		l.metrics.failures.WithLabelValues(faultOf(err).String()).Inc()
		l.res.failed, l.res.err = &entries[done], err
		return done
	}
	return done
}

// settle takes out of the outbox what has its verdict.
func (l *lane) settle(entries []Entry, verdicts []error) {
	var taken []Entry
	for i, e := range entries {
		if verdicts[i] == nil {
			e.Event = vms.Event{ID: e.Event.ID} // the rest is not needed any more, and large
			taken = append(taken, e)
		} else if !l.parkEntry(e, verdicts[i].Error()) {
			l.mu.Lock()
			l.res.broken, l.again = true, append(l.again, e.Place)
			l.mu.Unlock()
		}
	}
	l.res.answered = l.res.answered || len(entries) > 0
	l.res.taken += len(taken)
	if len(taken) == 0 {
		return
	}
	l.metrics.accepted.Add(float64(len(taken)))
	l.setStatus(func(st *Status) {
		st.Accepted += uint64(len(taken))
		st.LastAccepted, st.LastError = time.Now(), ""
	})
	l.slots <- struct{}{}
	l.acks.Go(func() {
		defer func() { <-l.slots }()
		renewed, err := l.ack(taken)
		if err != nil {
			// They stay in the outbox and go once more, which replaces them at the service.
			l.log.Error("accepted events could not be taken out of the outbox", "events", len(taken), "first", taken[0].Event.ID, "error", err)
			for _, e := range taken {
				renewed = append(renewed, e.Place)
			}
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		l.res.broken = l.res.broken || err != nil
		l.again = append(l.again, renewed...)
	})
}

// report hands entries to the service: verdicts and err are those of BatchSender. If the service does not know the actor,
// the first goes once more after a registration.
func (l *lane) report(ctx context.Context, entries []Entry) (verdicts []error, err error) {
	if len(entries) > 1 {
		events := make([]vms.Event, len(entries))
		for i, e := range entries {
			events[i] = e.Event
		}
		verdicts, err = l.many.ReportMany(ctx, events)
	} else {
		err = l.sender.Report(ctx, entries[0].Event)
	}
	var refused *vms.RefusedError
	if !errors.As(err, &refused) {
		if err == nil && len(verdicts) == 0 {
			verdicts = []error{nil}
		}
		return verdicts, err
	}
	if len(verdicts) > 0 {
		return verdicts, nil // what was refused comes first next time
	}
	if l.opts.Register == nil || !refused.UnknownActor() {
		return []error{err}, nil
	}
	return l.reportKnown(ctx, entries[0], err)
}

// reportKnown registers the bridge and reports an event again whose actor the service did not know.
func (l *lane) reportKnown(ctx context.Context, e Entry, refusal error) ([]error, error) {
	l.log.Info("the service does not know an actor; registering again", "actor", e.Event.ActorID)
	err := l.opts.Register(ctx)
	switch {
	case errors.As(err, new(*vms.RefusedError)):
		return []error{refusal}, nil // the service does not want to know: its verdict on the event stands
	case err != nil:
		return nil, err
	}
	err = l.sender.Report(ctx, e.Event)
	if err == nil || errors.As(err, new(*vms.RefusedError)) {
		return []error{err}, nil
	}
	return nil, err
}

// parkEntry says whether the entry could be set aside.
func (r *Reporter) parkEntry(e Entry, reason string) bool {
	if err := r.park(e.Event.ID, e.Revision, reason); err != nil {
		r.log.Error("a refused event could not be set aside", "id", e.Event.ID, "error", err)
		return false
	}
	r.metrics.parked.Inc()
	r.setStatus(func(st *Status) { st.Refused++ })
	r.log.Warn("the service refused an event for good; see it with: vmsbridge queue", "id", e.Event.ID, "reason", reason)
	return true
}
