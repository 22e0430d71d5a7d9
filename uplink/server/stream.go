package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"vmsbridge/uplink/server/feed"
	"vmsbridge/uplink/vms"
)

// Limits of a stream.
const (
	streamBeat  = 20 * time.Second // between comments, so that what stands between does not forget the connection
	streamWrite = 10 * time.Second // a reader that takes longer for some events is gone
	streamAgain = 2 * time.Second  // a client whose stream ended opens it again after that
	maxStreams  = 16               // of a subscription
)

// headerLastID is sent by a client that opens a stream again. Programs that cannot set headers put it into the query.
const headerLastID, queryLastID = "Last-Event-ID", "lastEventId"

// stream is GET /eventSubscriptions/{id}/stream: each event that is stored from now on, as it is then, in the form of
// https://html.spec.whatwg.org/multipage/server-sent-events.html. An event that is reported again, as with its end, comes
// again under its id; the id of the message is another one, and behind it goes on who sends it as Last-Event-ID. Who is too slow for
// what happens is cut off, and goes on with what is still kept. What the caller may see is found out anew for each event.
func (s *Server) stream(c *call) error {
	full := false
	if _, err := s.subs.own(c, func(sub *subscription) {
		if full = sub.streams >= maxStreams; !full {
			sub.streams++
		}
	}); err != nil {
		return err
	}
	if full {
		return vms.NewError(http.StatusTooManyRequests, vms.ReasonTooMany, "The subscription has too many streams; close some")
	}
	defer func() { _, _ = s.subs.own(c, func(sub *subscription) { sub.streams--; sub.used = time.Now() }) }()
	ctx, cancel := context.WithCancel(c.r.Context())
	defer cancel()
	go s.watch(ctx, cancel, c)
	follower := s.subs.feed.FollowAfter(cmp.Or(c.r.Header.Get(headerLastID), c.r.URL.Query().Get(queryLastID)))
	out := http.NewResponseController(c.w)
	if err := out.SetReadDeadline(time.Time{}); err != nil { // the server's limit is for requests that come slowly
		return err
	}
	say := func(text string) error {
		_ = out.SetWriteDeadline(time.Now().Add(streamWrite))
		if _, err := c.w.Write([]byte(text)); err != nil {
			return err
		}
		return out.Flush()
	}
	c.w.Header().Set("Content-Type", "text/event-stream")
	c.w.Header().Set("X-Accel-Buffering", "no") // a proxy that would collect events first is asked not to
	c.w.WriteHeader(http.StatusOK)
	if c.r.Method == http.MethodHead {
		return nil
	}
	begun := false
	err := say(fmt.Sprintf(": follows\nretry: %d\n\n", streamAgain.Milliseconds()))
	for err == nil {
		beat, stop := context.WithTimeout(ctx, streamBeat)
		told, trouble := follower.Next(beat)
		stop()
		text := ""
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(trouble, context.DeadlineExceeded):
			text = ": beat\n\n"
		case errors.Is(trouble, feed.ErrBehind) && !begun:
			text = ": some events before are no longer kept; the list of events has them\n\n"
		case trouble != nil:
			return nil
		}
		begun = true
		sub, gone := s.subs.own(c, func(*subscription) {})
		if gone != nil {
			return nil
		}
		for _, t := range told {
			ev := called(c.principal, t.Event)
			if !sub.wants(ev) || !s.mayFollow(c, ev) {
				continue
			}
			raw, fault := json.Marshal(ev)
			if fault != nil {
				return nil
			}
			text += "id: " + t.ID + "\nevent: " + ev.Type + "\ndata: " + string(raw) + "\n\n"
		}
		if text != "" {
			err = say(text)
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
	a := vms.Actor{Type: ev.ActorType, ID: ev.ActorID}
	if its := p.Find(a); err != nil || its.Account != ev.ActorAccountID || its.ID != c.principal.Find(a).ID {
		return false
	}
	now := &call{c.w, c.r, p}
	return checkEvents(now) == nil && s.checkActor(c.r.Context(), now, a) == nil
}
