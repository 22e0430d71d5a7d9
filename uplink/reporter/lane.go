package reporter

import (
	"context"
	"errors"
	"sync"
	"time"

	"vmsbridge/uplink/vms"
)

// maxAcks is how many acknowledgements of a lane may be on their way to the disk while it sends on. They share commits.
const maxAcks = 64

// serve reports one actor's entries in order and stops at the first failure. It starts no new request once ctx is done;
// work bounds the one under way.
func (r *Reporter) serve(ctx, work context.Context, actor string, entries []Entry, epoch int) (res result) {
	res = result{actor: actor, epoch: epoch}
	var acks sync.WaitGroup
	slots := make(chan struct{}, maxAcks)
	defer acks.Wait() // the entries must be gone before this actor is looked at again
	for i, e := range entries {
		if ctx.Err() != nil {
			return res
		}
		err := r.report(work, e)
		var refused *vms.RefusedError
		switch {
		case errors.As(err, &refused):
			r.parkEntry(e, refused.Error())
			res.answered = true
			continue
		case err != nil && ctx.Err() != nil:
			return res // cut off by the end of Run
		case err != nil:
			r.metrics.failures.WithLabelValues(faultOf(err).String()).Inc()
			res.failed, res.err = &entries[i], err
			return res
		}
		res.taken++
		res.answered = true
		r.metrics.accepted.Inc()
		r.setStatus(func(st *Status) {
			st.Accepted++
			st.LastAccepted, st.LastError = time.Now(), ""
		})
		slots <- struct{}{}
		acks.Go(func() {
			defer func() { <-slots }()
			if err := r.ack(e.Event.ID, e.Revision); err != nil {
				// It stays in the outbox and goes once more, which replaces it at the service.
				r.log.Error("an accepted event could not be taken out of the outbox", "id", e.Event.ID, "error", err)
			}
		})
	}
	return res
}

// report sends one event; if the service does not know its actor, once more after a registration.
func (r *Reporter) report(ctx context.Context, e Entry) error {
	err := r.sender.Report(ctx, e.Event)
	var refused *vms.RefusedError
	if r.opts.Register == nil || !errors.As(err, &refused) || !refused.UnknownActor() {
		return err
	}
	r.log.Info("the service does not know an actor; registering again", "actor", e.Event.ActorID)
	regErr := r.opts.Register(ctx)
	switch {
	case errors.As(regErr, new(*vms.RefusedError)):
		return err // the service does not want to know: its verdict on the event stands
	case regErr != nil:
		return regErr
	}
	return r.sender.Report(ctx, e.Event)
}

func (r *Reporter) parkEntry(e Entry, reason string) {
	if err := r.park(e.Event.ID, e.Revision, reason); err != nil {
		r.log.Error("a refused event could not be set aside", "id", e.Event.ID, "error", err)
		return
	}
	r.metrics.parked.Inc()
	r.setStatus(func(st *Status) { st.Refused++ })
	r.log.Warn("the service refused an event for good; see it with: vmsbridge queue", "id", e.Event.ID, "reason", reason)
}
