package webhook

import (
	"context"
	"maps"
	"time"

	"github.com/cenkalti/backoff/v5"
	"golang.org/x/sync/errgroup"

	"vmsbridge/uplink/home"
)

const (
	// lanes is how many actors are served at once, and turn how many events of one before others get theirs.
	lanes, turn = 4, 16
	// window is how many changes may be known at a time.
	window = 512
	// proofs is how often an event must have failed, each time after others were taken, to be left out.
	proofs = 5
	// lazy is how long the passing of events that the hook does not want may stay unnoted, and lazyMost how many places.
	lazy, lazyMost = time.Minute, 256
	// farewell bounds the handing over of what is left at the stop.
	farewell = 1500 * time.Millisecond
)

// line is what a hook has still to get. One goroutine, but for the lanes, which only post.
type line struct {
	h       *Hook
	pending []home.Change // read and wanted, in order, with those handed over that stand behind one that is not
	done    map[uint64]bool
	read    uint64 // pending holds what is wanted up to this place
	passed  uint64 // what Advance was told, and when
	passAt  time.Time
	trimmed uint64 // what the ledger said when pending was read

	resting map[string]*trouble // by actor
	pauses  *backoff.ExponentialBackOff
	until   time.Time // nothing is sent before
	failing bool      // the last try failed as if the hook were away: one event goes ahead
	skip    int       // actors to pass over for it, since it may be one event's fault
	taken   uint64
}

func newLine(h *Hook) *line {
	return &line{h: h, done: map[uint64]bool{}, resting: map[string]*trouble{}, pauses: pauses(h.opts)}
}

func pauses(o Options) *backoff.ExponentialBackOff {
	b := backoff.NewExponentialBackOff()
	b.InitialInterval, b.MaxInterval, b.Multiplier, b.RandomizationFactor = o.FirstPause, o.MaxPause, 2, 0.25
	b.Reset()
	return b
}

// run hands over until ctx is done.
func (l *line) run(ctx context.Context) {
	for {
		next := l.round(ctx, time.Now())
		if ctx.Err() != nil {
			break
		}
		timer := time.NewTimer(max(time.Until(next), 0))
		select {
		case <-ctx.Done():
		case <-timer.C:
		case <-l.changed():
		}
		timer.Stop()
	}
	if l.failing {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
	defer cancel()
	for ctx.Err() == nil && !l.failing {
		before := l.passed
		if l.round(ctx, time.Now()); l.passed == before {
			return
		}
	}
}

// changed wakes for new events, unless nothing may be sent now.
func (l *line) changed() <-chan struct{} {
	if time.Now().Before(l.until) {
		return nil
	}
	return l.h.opts.Feed.Changed()
}

// idle is how long a round may be off if nothing is known to need one; it makes a lost wake-up harmless.
const idle = time.Minute

// round reads, hands over what may be handed over now, and says when the next round should be.
func (l *line) round(ctx context.Context, now time.Time) time.Time {
	if now.Before(l.until) {
		return l.until
	}
	if err := l.fill(); err != nil {
		l.h.ledger.Down(err, "the journal cannot be read: see the log")
		return now.Add(l.pauses.NextBackOff())
	}
	work := l.choose(now)
	results := make([][]verdict, len(work))
	var g errgroup.Group
	g.SetLimit(lanes)
	for i, list := range work {
		g.Go(func() error {
			results[i] = l.serve(ctx, list)
			return nil
		})
	}
	_ = g.Wait()
	var down *verdict
	for i, list := range work {
		for k, v := range results[i] {
			if l.take(list[k], v); v.kind == ofHook || v.kind == ofSetup {
				down = &v
			}
		}
	}
	if down != nil {
		l.failing, l.skip = true, l.skip+1
		l.until = time.Now().Add(max(min(l.pauses.NextBackOff(), l.pauses.MaxInterval), down.asked))
	}
	if err := l.advance(); err != nil {
		l.h.ledger.Down(err, "the journal does not take how far the webhook is: is the disk full?")
		return time.Now().Add(l.pauses.NextBackOff())
	}
	return l.next(now)
}

// serve posts events of one actor until one is not dealt with.
func (l *line) serve(ctx context.Context, list []home.Change) (verdicts []verdict) {
	for _, c := range list {
		v := l.h.post(ctx, c)
		if ctx.Err() != nil && v.kind != taken {
			return verdicts // the stop, not the hook
		}
		verdicts = append(verdicts, v)
		if v.kind != taken && v.kind != refused {
			return verdicts
		}
	}
	return verdicts
}

// fill reads what is new.
func (l *line) fill() error {
	if n := l.h.ledger.Trimmed(); n != l.trimmed {
		l.trimmed, l.pending, l.read = n, nil, 0 // some of it was given up
		if list, err := l.h.opts.Feed.Read(0, 1); err == nil {
			maps.DeleteFunc(l.done, func(place uint64, _ bool) bool { return len(list) == 0 || place < list[0].Place })
		}
	}
	for len(l.pending) < window {
		list, err := l.h.opts.Feed.Read(l.read, window)
		if err != nil || len(list) == 0 {
			return err
		}
		for _, c := range list {
			if c.Untrue {
				return nil // nothing is told before its times are right
			}
			if l.h.wants(c) && !l.done[c.Place] {
				l.pending = append(l.pending, c)
			}
			l.read = c.Place
		}
	}
	return nil
}

// choose is what to hand over now: for each actor that does not rest, its first events.
func (l *line) choose(now time.Time) (work [][]home.Change) {
	at, seen := map[string]int{}, map[string]int{}
	for _, c := range l.pending {
		actor := c.Event.ActorID
		t := l.resting[actor]
		if l.done[c.Place] || t != nil && now.Before(t.until) {
			continue
		}
		// Where nobody else's event can tell whose fault it is that this one fails for long, the one behind it tries every other time.
		if seen[actor]++; t != nil && seen[actor] == 1 && t.own && t.attempts%2 == 1 && now.Sub(t.first) >= l.h.opts.StuckAfter && l.alone(c) {
			continue
		}
		i, ok := at[actor]
		if !ok {
			i = len(work)
			at[actor] = i
			work = append(work, nil)
		}
		if len(work[i]) == 0 || t == nil && len(work[i]) < turn {
			work[i] = append(work[i], c)
		}
	}
	if l.failing && len(work) > 0 {
		return [][]home.Change{work[l.skip%len(work)][:1]}
	}
	return work
}

// advance notes durably what is dealt with, up to the first that is not.
func (l *line) advance() error {
	place, n := l.read, len(l.pending)
	for i, c := range l.pending {
		if !l.done[c.Place] {
			place, n = c.Place-1, i
			break
		}
	}
	l.h.ledger.Passed(place)
	// Each note is a write to the device; what is passed over unsent costs nothing to pass again.
	if place <= l.passed || len(l.done) == 0 && place-l.passed < lazyMost && time.Since(l.passAt) < lazy {
		return nil
	}
	if err := l.h.opts.Feed.Advance(place); err != nil {
		return err
	}
	l.passed, l.passAt = place, time.Now()
	for _, c := range l.pending[:n] {
		delete(l.done, c.Place)
	}
	l.pending = l.pending[n:]
	return nil
}

// next is when there may be something to do.
func (l *line) next(now time.Time) time.Time {
	if time.Now().Before(l.until) {
		return l.until
	}
	at := now.Add(idle)
	for _, c := range l.pending {
		if l.done[c.Place] {
			continue
		}
		t := l.resting[c.Event.ActorID]
		switch {
		case t == nil || !now.Before(t.until):
			return now
		case t.until.Before(at):
			at = t.until
		}
	}
	return at
}
