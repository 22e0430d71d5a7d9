package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"vmsbridge/uplink/client"
	"vmsbridge/uplink/vms"
)

const (
	followEvery = time.Second
	// followReach is how far back from the newest start a follower still looks for events that come
	// late: a span is confirmed a moment after its start, and another camera's may arrive behind
	// it.
	followReach = 2 * time.Minute
)

// followed remembers what was printed, so that an event is printed when it is new and when it has
// ended.
type followed struct {
	from  vms.Time             // nothing before it is asked for
	state map[string]vms.Event // by id, without data; starts from `from` on
}

// follow polls until ctx is done, which is the good end. A server that cannot be reached is said
// once and tried on.
func (c *eventsCommand) follow(ctx context.Context, cl *client.Client, q vms.Query, p *printer, errs io.Writer) error {
	f := followed{from: *q.StartGTE, state: map[string]vms.Event{}}
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	away := false
	for {
		err := f.poll(ctx, cl, q, p)
		var transient *vms.TransientError
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.As(err, &transient):
			if !away {
				_, _ = fmt.Fprintf(errs, "vmsbridge: %v; trying on\n", err)
			}
			away = true
		case err != nil:
			if refused, ok := errors.AsType[*vms.RefusedError](err); ok && refused.Code == 404 {
				err = cmp.Or(knownCameras(ctx, cl, c.Camera...), err)
			}
			return hinted("follow events", err)
		case away:
			_, _ = fmt.Fprintln(errs, "vmsbridge: connected again")
			away = false
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// poll asks once and prints new events.
func (f *followed) poll(ctx context.Context, cl *client.Client, q vms.Query, p *printer) error {
	if len(q.Actors) == 0 {
		actors, err := everyCamera(ctx, cl)
		if err != nil || len(actors) == 0 {
			return err
		}
		q.Actors = actors
	}
	q.StartGTE = &f.from
	for ev, err := range cl.AllEvents(ctx, q) {
		if err != nil {
			return err
		}
		if f.news(ev) {
			if err := p.print(ev); err != nil {
				return err
			}
		}
	}
	f.forget()
	return nil
}

// news notes ev and says whether it is new or has ended (or ended otherwise) since it was last
// seen.
func (f *followed) news(ev vms.Event) bool {
	old, known := f.state[ev.ID]
	f.state[ev.ID] = vms.Event{StartTimestamp: ev.StartTimestamp, EndTimestamp: ev.EndTimestamp}
	if !known || old.Ongoing() != ev.Ongoing() {
		return true
	}
	return !ev.Ongoing() && !old.EndTimestamp.Equal(ev.EndTimestamp.Time)
}

// forget moves the window up to the oldest event that still goes on, and no nearer to the newest
// than followReach.
func (f *followed) forget() {
	var newest vms.Time
	for _, ev := range f.state {
		if ev.StartTimestamp.After(newest.Time) {
			newest = ev.StartTimestamp
		}
	}
	from := newest.Add(-followReach)
	for _, ev := range f.state {
		if ev.Ongoing() && ev.StartTimestamp.Before(from) {
			from = ev.StartTimestamp.Time
		}
	}
	if !from.After(f.from.Time) {
		return
	}
	f.from = vms.At(from)
	for id, ev := range f.state {
		if ev.StartTimestamp.Before(f.from.Time) {
			delete(f.state, id)
		}
	}
}
