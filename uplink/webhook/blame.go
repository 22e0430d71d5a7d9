package webhook

import (
	"time"

	"github.com/cenkalti/backoff/v5"

	"vmsbridge/uplink/home"
)

// trouble is an actor whose first event fails, though the hook may be well.
type trouble struct {
	place    uint64
	first    time.Time
	attempts int    // of it, and of the one behind it
	own      bool   // the hook answered, and as if only this event were the matter
	proofs   int    // failures since each of which before something else was taken
	before   uint64 // events taken when it failed last
	until    time.Time
	pauses   *backoff.ExponentialBackOff
}

// alone says whether everything else that waits is of the same actor as c, and there is something.
func (l *line) alone(c home.Change) bool {
	others := 0
	for _, o := range l.pending {
		switch {
		case l.done[o.Place]:
		case o.Event.ActorID != c.Event.ActorID:
			return false
		case o.Place > c.Place:
			others++
		}
	}
	return others > 0
}

// take notes what an attempt came to.
func (l *line) take(c home.Change, v verdict) {
	t := l.resting[c.Event.ActorID]
	if v.kind == taken || v.kind == refused {
		l.settle(c)
		l.failing, l.skip = false, 0
		l.pauses.Reset()
		l.h.ledger.Up()
		if v.kind == taken {
			l.taken++
			l.h.ledger.Sent(1)
		} else {
			l.h.ledger.Refused(c.Event.ID, v.err.Error())
		}
		if t != nil && t.place != c.Place {
			t.until = time.Time{} // it got past the one before it: try that again now
			t.attempts++
		}
		return
	}
	if t == nil {
		t = &trouble{place: c.Place, first: time.Now(), before: l.taken, pauses: pauses(l.h.opts)}
		l.resting[c.Event.ActorID] = t
	}
	t.attempts++
	if t.place == c.Place {
		if t.own = v.kind == ofEvent; l.taken > t.before {
			t.proofs++
			t.before = l.taken
		}
	}
	if t.proofs >= proofs && time.Since(t.first) >= l.h.opts.StuckAfter {
		l.settle(c)
		l.h.ledger.Refused(c.Event.ID, "it failed again and again while others were taken: "+v.err.Error())
		return
	}
	l.h.ledger.Down(v.err, l.h.hint(v))
	if v.kind == ofEvent {
		t.until = time.Now().Add(max(min(t.pauses.NextBackOff(), t.pauses.MaxInterval), v.asked))
	}
}

// settle notes that a change was dealt with.
func (l *line) settle(c home.Change) {
	l.done[c.Place] = true
	if t := l.resting[c.Event.ActorID]; t != nil && t.place == c.Place {
		delete(l.resting, c.Event.ActorID)
	}
}
