package mqtt

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"

	"vmsbridge/uplink/home"
)

const (
	// batch is how many changes are under way at once.
	batch = 64
	// resync is how often the states are held against the journal, in case an event went without a change.
	resync = time.Minute
	// farewell bounds the handing over of what is left at the stop.
	farewell = 1500 * time.Millisecond
)

// live is one connection, from the first greeting to its loss, or to the stop, for which it returns nil.
func (h *Home) live(ctx context.Context) error {
	s, err := h.connect(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	b := newBoard(h.names, h.opts.Cameras)
	if err := h.greet(ctx, s, b); err != nil {
		return err
	}
	h.ledger.Up()
	h.log.Info("the MQTT broker takes events", "address", h.addr, "protocol", h.opts.Protocol)
	tick := time.NewTicker(resync)
	defer tick.Stop()
	for {
		if err := h.drain(ctx, s, b); err != nil && ctx.Err() == nil {
			return err
		}
		select {
		case <-ctx.Done():
			h.leave(ctx, s, b)
			return nil
		case <-s.lost():
			return s.why()
		case <-h.opts.Feed.Changed():
		case <-tick.C:
			if err := h.settle(ctx, s, b, false); err != nil {
				return err
			}
		}
	}
}

// greet publishes what must be known before anything else: what there is, how it is, and that the bridge is there. What an
// earlier configuration left is taken away.
func (h *Home) greet(ctx context.Context, s session, b *board) error {
	before, now := h.recall(), publishedBy(h.names, h.opts.Cameras)
	known := reflect.DeepEqual(before, []published{now}) // then nothing is to be written at each connection
	if !known {
		h.remember(append(before, now)...)
	}
	var list []message
	if h.names.discovery != "" {
		list = discovery(h.names, h.opts.Bridge, h.opts.Cameras)
	}
	ongoing, err := h.opts.Ongoing()
	if err != nil {
		return err
	}
	list = append(list, b.reset(ongoing, true)...)
	list = append(list, message{topic: h.names.status(), payload: []byte(online), retain: true})
	list = append(stale(before, h.opts.Bridge.ID, list), list...)
	if _, err := s.publish(ctx, list); err != nil {
		return fmt.Errorf("greet the broker: %w", err)
	}
	if !known {
		h.remember(now)
	}
	return nil
}

// settle publishes the states as the journal has them now.
func (h *Home) settle(ctx context.Context, s session, b *board, all bool) error {
	ongoing, err := h.opts.Ongoing()
	if err != nil {
		return err
	}
	_, err = s.publish(ctx, b.reset(ongoing, all))
	return err
}

// drain hands over what waits.
func (h *Home) drain(ctx context.Context, s session, b *board) error {
	for ctx.Err() == nil {
		changes, err := h.opts.Feed.Read(0, h.poison.batch())
		if err != nil || len(changes) == 0 {
			return err
		}
		var list []message
		ends := make([]int, len(changes)) // of each change's messages
		for i, c := range changes {
			list = b.apply(list, c, h.opts.Feed.Now())
			if h.untrue = h.untrue || c.Untrue; c.Newest && !c.Untrue { // one whose times are not right yet comes again as an event
				if m, err := h.event(c); err == nil {
					list = append(list, m)
				} else {
					h.ledger.Refused(c.Event.ID, err.Error())
				}
			}
			ends[i] = len(list)
		}
		acked, err := s.publish(ctx, list)
		n := 0
		for n < len(changes) && ends[n] <= acked {
			n++
		}
		if e := h.handed(changes[:n]); e != nil {
			return e
		}
		if err != nil {
			if n == len(changes) || !h.poison.blames(changes[n], err) {
				return fmt.Errorf("publish events: %w", err)
			}
			h.ledger.Refused(changes[n].Event.ID, "the connection broke each time that it was published: "+err.Error())
			if e := h.opts.Feed.Advance(changes[n].Place); e != nil {
				return e
			}
			return err
		}
		h.poison.none()
		if h.untrue { // such an event may have another id by now
			if err := h.settle(ctx, s, b, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// handed notes that the broker has changes.
func (h *Home) handed(changes []home.Change) error {
	if len(changes) == 0 {
		return nil
	}
	if err := h.opts.Feed.Advance(changes[len(changes)-1].Place); err != nil {
		return err
	}
	sent := 0
	for _, c := range changes {
		if c.Newest && !c.Untrue {
			sent++
		}
	}
	h.ledger.Sent(sent)
	return nil
}

// event is the message of an event.
func (h *Home) event(c home.Change) (message, error) {
	body, err := json.Marshal(c.Event)
	return message{topic: h.names.events(), payload: body, revision: c.Place}, err
}

// leave hands over what the last moments brought, and says goodbye, so that the broker need not say it.
func (h *Home) leave(ctx context.Context, s session, b *board) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
	defer cancel()
	err := h.drain(ctx, s, b)
	if err == nil {
		_, err = s.publish(ctx, []message{{topic: h.names.status(), payload: []byte(offline), retain: true}})
	}
	if err != nil {
		h.log.Info("the last events wait for the next start", "error", err)
	}
}

// poison finds an event at which every connection breaks, though the broker takes the greeting each time: a broker may
// refuse a message that is too large in no other way.
type poison struct {
	place uint64
	times int
}

const (
	poisonAlone = 1 // from so many times on it is published alone
	poisonMost  = 8 // and given up after so many
)

func (p *poison) batch() int {
	if p.times >= poisonAlone {
		return 1
	}
	return batch
}

// blames notes a failure to publish changes that begin with c, and says whether to give c up. Where the broker says that
// the bridge may not publish, no event is to blame.
func (p *poison) blames(c home.Change, err error) bool {
	if c.Place != p.place {
		*p = poison{place: c.Place}
	}
	var refused *refusedError
	if errors.Is(err, context.Canceled) || errors.As(err, &refused) && !refused.message {
		return false
	}
	if p.times++; p.times < poisonMost {
		return false
	}
	p.none()
	return true
}

func (p *poison) none() { *p = poison{} }
