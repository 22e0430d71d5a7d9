package server

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"vmsbridge/uplink/vms"
)

// Limits of a stream.
const (
	streamBeat  = 20 * time.Second // between comments, so that what stands between does not forget the connection
	streamWrite = 10 * time.Second // a reader that takes longer for an event is gone
)

// stream is GET /eventSubscriptions/{id}/stream: each event that is stored from now on, as it is then, in the form of
// https://html.spec.whatwg.org/multipage/server-sent-events.html. An event that is reported again, as with its end, comes
// again under its id. What the caller may see is found out anew for each event.
func (s *Server) stream(c *call) error {
	if _, err := s.subs.own(c, func(sub *subscription) { sub.streams++ }); err != nil {
		return err
	}
	defer func() { _, _ = s.subs.own(c, func(sub *subscription) { sub.streams--; sub.used = time.Now() }) }()
	ctx, cancel := context.WithCancel(c.r.Context())
	defer cancel()
	go s.watch(ctx, cancel, c)
	events, stop := s.subs.feed.Follow()
	defer stop()
	out := http.NewResponseController(c.w)
	if err := out.SetReadDeadline(time.Time{}); err != nil { // the server's limit is for requests that come slowly
		return err
	}
	say := func(text string) error {
		if _, err := s.subs.own(c, func(*subscription) {}); err != nil {
			return err
		}
		_ = out.SetWriteDeadline(time.Now().Add(streamWrite))
		if _, err := c.w.Write([]byte(text)); err != nil {
			return err
		}
		return out.Flush()
	}
	c.w.Header().Set("Content-Type", "text/event-stream")
	c.w.WriteHeader(http.StatusOK)
	err := say(": follows\n\n")
	beat := time.NewTicker(streamBeat)
	defer beat.Stop()
	for err == nil {
		select {
		case <-ctx.Done():
			return nil
		case <-beat.C:
			err = say(": beat\n\n")
		case ev, ok := <-events:
			if !ok {
				return nil
			}
			sub, gone := s.subs.own(c, func(*subscription) {})
			if gone != nil {
				return nil
			}
			if !sub.wants(ev) || !s.mayFollow(c, ev) {
				continue
			}
			raw, fault := json.Marshal(ev)
			if fault != nil {
				return nil
			}
			err = say("id: " + ev.ID + "\nevent: " + ev.Type + "\ndata: " + string(raw) + "\n\n")
		}
	}
	return nil // the answer has begun; its end is all that can be said
}

// wants says whether an event passes one of the filters.
func (sub subscription) wants(ev vms.Event) bool {
	return slices.ContainsFunc(sub.Filters, func(f filter) bool { return f.lets(ev) })
}

// mayFollow says whether the caller may see an event at this moment.
func (s *Server) mayFollow(c *call, ev vms.Event) bool {
	p, err := authenticate(s.opts.Auth, c.r)
	if err != nil || p.Home(ev.ActorID) != ev.ActorAccountID {
		return false
	}
	now := &call{c.w, c.r, p}
	return checkEvents(now) == nil && s.checkActor(c.r.Context(), now, vms.Actor{Type: ev.ActorType, ID: ev.ActorID}) == nil
}
