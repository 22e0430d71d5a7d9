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
	// streamPace is between two looks at what is new, so that a burst costs a few: what comes after a pause goes at once.
	streamPace = 200 * time.Millisecond
	maxStreams = 16 // of a subscription
)

// headerLastID is sent by a client that opens a stream again. Programs that cannot set headers put it into the query.
const headerLastID, queryLastID = "Last-Event-ID", "lastEventId"

// stream is GET /eventSubscriptions/{id}/stream: each event that is stored from now on, as it is then, in the form of
// https://html.spec.whatwg.org/multipage/server-sent-events.html. An event that is reported again, as with its end, comes
// again under its id; the id of the message is another one, and behind it goes on who sends it as Last-Event-ID. Who is too slow for
// what happens is cut off, and goes on with what is still kept. What the caller may see is found out anew each second.
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
	go s.follow(ctx, cancel, c)
	follower := s.subs.feed.FollowAfter(cmp.Or(c.r.Header.Get(headerLastID), c.r.URL.Query().Get(queryLastID)))
	out := http.NewResponseController(c.w)
	if err := out.SetReadDeadline(time.Time{}); err != nil { // the server's limit is for requests that come slowly
		return err
	}
	say := func(text []byte) error {
		_ = out.SetWriteDeadline(time.Now().Add(streamWrite))
		if _, err := c.w.Write(text); err != nil {
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
	err := say(fmt.Appendf(nil, ": follows\nretry: %d\n\n", streamAgain.Milliseconds()))
	for err == nil {
		beat, stop := context.WithTimeout(ctx, streamBeat)
		told, trouble := follower.Next(beat)
		stop()
		var text []byte
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(trouble, context.DeadlineExceeded):
			text = append(text, ": beat\n\n"...)
		case errors.Is(trouble, feed.ErrBehind) && !begun:
			text = append(text, ": some events before are no longer kept; the list of events has them\n\n"...)
		case trouble != nil:
			return nil
		}
		begun = true
		if text, err = s.tell(c, text, told); err != nil {
			return nil
		}
		if len(text) > 0 {
			err = say(text)
		}
		if follower.Ahead() == 0 {
			sleep(ctx, streamPace)
		}
	}
	return nil // the answer has begun; its end is all that can be said
}

func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// tell appends messages of those events that the caller wants and may see. The error says that the stream is over.
func (s *Server) tell(c *call, text []byte, events []*feed.Told) ([]byte, error) {
	if len(events) == 0 {
		_, err := s.subs.own(c, func(*subscription) {})
		return text, err
	}
	p, at, err := s.principal(c)
	if gone(c, p, err) {
		return text, err
	}
	if err != nil {
		return text, nil // the store's trouble: what cannot be found out is not shown
	}
	var sub subscription
	for _, t := range events {
		if !at.concerns(p, t.Event.ActorAccountID) {
			continue
		}
		if sub.ID == "" {
			if sub, err = s.subs.own(c, func(*subscription) {}); err != nil {
				return text, err
			}
		}
		ev := called(p, t.Event)
		if !sub.wants(ev) || !s.sees(c.r.Context(), at, p, ev) {
			continue
		}
		raw, err := t.JSON()
		if ev.ID != t.Event.ID {
			raw, err = json.Marshal(ev)
		}
		if err != nil {
			return text, err
		}
		text = append(append(append(append(text, "id: "...), t.ID...), "\nevent: "...), ev.Type...)
		text = append(append(append(text, "\ndata: "...), raw...), "\n\n"...)
	}
	return text, nil
}

// wants says whether an event passes one of the filters.
func (sub subscription) wants(ev vms.Event) bool {
	actor := ev.ActorType + ":" + ev.ActorID
	return slices.ContainsFunc(sub.Filters, func(f filter) bool { return f.lets(actor, ev.Type) })
}
