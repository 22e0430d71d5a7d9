package outbound

import (
	"context"
	"errors"
	"fmt"
	"time"

	"vmsbridge/storage/journal"
	"vmsbridge/uplink/vms"
)

// Queue is the outbox and the parked events as a person sees them: what waits for the service, what
// it refused, and what to do about it. QueueOf works on an open journal, which a stopped bridge
// leaves to whoever comes; AskQueue asks a running bridge through its control socket
// (agent/control), which answers the same by QueueHandler. All methods are safe for concurrent use,
// and block on the disk or on the bridge's answer.
type Queue interface {
	// List is up to limit events that wait, oldest first, and up to limit that are parked, by id.
	// It changes nothing.
	List(ctx context.Context, limit int) (Listing, error)
	// Show is an event. One that is not there gives ErrUnknown.
	Show(ctx context.Context, id string) (vms.Event, error)
	// Retry lets parked events wait again.
	Retry(ctx context.Context, w Which) (done []string, err error)
	// Drop never reports events that are parked or wait; they stay in the journal.
	Drop(ctx context.Context, w Which) (done []string, err error)
	// Resend lets all events of a time wait once more that neither wait nor are parked, behind what
	// waits. It says how many.
	Resend(ctx context.Context, w When) (events int, err error)
}

// When is a time: events of it had not ended before Since, and began no later than Until, if that
// is not zero.
type When struct {
	Since time.Time `json:"since"`
	Until time.Time `json:"until,omitzero"`
}

// Which says what Retry and Drop are meant for. They stop at the first event that they cannot do,
// and done says how far they came.
type Which struct {
	IDs []string `json:"ids,omitempty"`
	All bool     `json:"all,omitempty"` // all that are parked
}

// ErrUnknown is that no event of the id is there, or none that waits or is parked.
var ErrUnknown = errors.New("no such event here")

// Listing is the state of the queue.
type Listing struct {
	Waiting int     `json:"waiting"` // in all, listed or not
	Parked  int     `json:"parked"`
	Entries []Entry `json:"entries"`
}

// Entry is an event that waits or is parked.
type Entry struct {
	ID     string    `json:"id"`
	Parked bool      `json:"parked"`
	Since  time.Time `json:"since"`            // when it began to wait, or was parked
	Reason string    `json:"reason,omitempty"` // why the service refused it
}

// QueueOf is the queue of an open journal, which remains the caller's to close.
func QueueOf(j *journal.Journal) Queue { return own{j} }

type own struct{ j *journal.Journal }

func (q own) List(_ context.Context, limit int) (l Listing, err error) {
	stats, err := q.j.OutboxStats()
	if err != nil {
		return l, fmt.Errorf("read the queue: %w", err)
	}
	waiting, err := q.j.Peek(limit)
	if err != nil {
		return l, fmt.Errorf("read the queue: %w", err)
	}
	parked, err := q.j.Parked()
	if err != nil {
		return l, fmt.Errorf("read what is parked: %w", err)
	}
	l = Listing{Waiting: stats.Waiting, Parked: stats.Parked, Entries: []Entry{}}
	for _, e := range waiting {
		l.Entries = append(l.Entries, Entry{ID: e.Event.ID, Since: e.Since})
	}
	for i, e := range parked {
		if i < limit {
			l.Entries = append(l.Entries, Entry{ID: e.Event.ID, Parked: true, Since: e.At, Reason: e.Reason})
		}
	}
	return l, nil
}

func (q own) Show(_ context.Context, id string) (vms.Event, error) {
	ev, err := q.j.Get(id)
	return ev, named(id, err)
}

func (q own) Retry(ctx context.Context, w Which) ([]string, error) { return q.each(ctx, w, q.j.Retry) }

func (q own) Drop(ctx context.Context, w Which) ([]string, error) { return q.each(ctx, w, q.j.Drop) }

func (q own) each(ctx context.Context, w Which, do func(id string) error) (done []string, err error) {
	if w.All {
		parked, err := q.j.Parked()
		if err != nil {
			return nil, fmt.Errorf("read what is parked: %w", err)
		}
		for _, e := range parked {
			w.IDs = append(w.IDs, e.Event.ID)
		}
	}
	for _, id := range w.IDs {
		if err := ctx.Err(); err != nil {
			return done, err
		}
		if err := do(id); w.All && errors.Is(err, journal.ErrNotFound) {
			continue // somebody else was faster
		} else if err != nil {
			return done, named(id, err)
		}
		done = append(done, id)
	}
	return done, nil
}

// resendAtOnce is how many events enter the outbox in one transaction.
const resendAtOnce = 512

func (q own) Resend(ctx context.Context, w When) (events int, err error) {
	for after := ""; ; {
		if err := ctx.Err(); err != nil {
			return events, err
		}
		n, next, err := q.j.Again(journal.Again{Since: w.Since, Until: w.Until}, after, resendAtOnce)
		if events += n; err != nil || next == "" {
			return events, err
		}
		after = next
	}
}

// named says which event an error is about.
func named(id string, err error) error {
	if errors.Is(err, journal.ErrNotFound) {
		err = ErrUnknown
	}
	if err != nil {
		return fmt.Errorf("%s: %w", id, err)
	}
	return nil
}
