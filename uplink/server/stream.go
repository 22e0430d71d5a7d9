package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/server/feed"
	"vmsbridge/uplink/vms"
)

// Limits of a stream.
const (
	streamBeat = 20 * time.Second // between comments, so that what stands between does not forget the connection
	// A reader that takes longer for some events is gone. HTTP/2 ends a stream at its deadline also
	// where nothing is written, so this is more than a beat.
	streamWrite = 45 * time.Second
	streamAgain = 2 * time.Second // a client whose stream ended opens it again after that
	// streamPace is between two looks at what is new, so that a burst costs a few: what comes after
	// a pause goes at once.
	streamPace = 200 * time.Millisecond
	maxStreams = 16 // of a subscription
)

// headerLastID is sent by a client that opens a stream again. Programs that cannot set headers put
// it into the query.
const headerLastID, queryLastID = "Last-Event-ID", "lastEventId"

// stream is GET /eventSubscriptions/{id}/stream: each event that is stored from now on, as it is
// then, in the form of https://html.spec.whatwg.org/multipage/server-sent-events.html. An event
// that is reported again, as with its end, comes again under its id; the id of the message is
// another one, and behind it goes on who sends it as Last-Event-ID. Who is too slow for what
// happens is cut off, and goes on with what is still kept. What the caller may see is found out
// anew each second. A stream whose token or subscription has ended ends with a message of the type
// error that says so; an EventSource hands it to onerror, which learns no reason else.
func (s *Server) stream(c *call) error {
	if err := c.args.err(); err != nil {
		return err
	}
	r, leave, err := s.connections.enter(c.r)
	if err != nil {
		return err
	}
	defer leave()
	full := false
	if sub, err := s.subs.own(c, func(sub *subscription) {
		if full = sub.streams >= maxStreams; !full && sub.hook == nil {
			sub.streams++
		}
	}); err != nil {
		return err
	} else if sub.hook != nil {
		return vms.NotFound("streams", "This subscription's events go to its webhook", sub.ID)
	}
	if full {
		return vms.NewError(http.StatusTooManyRequests, vms.ReasonTooMany,
			"The subscription has too many streams; close some")
	}
	defer func() { _, _ = s.subs.own(c, func(sub *subscription) { sub.streams--; sub.used = time.Now() }) }()
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	s.sights.forget(c.r)
	go s.follow(ctx, func() { cancel(tokenEnded()) }, c)
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
	last := func(reason error) error {
		if e := (*vms.Error)(nil); errors.As(reason, &e) {
			if raw, err := encoded(e); err == nil {
				_ = say(fmt.Appendf(nil, "event: error\ndata: %s\n", raw)) // encoded ends the line
			}
		}
		return nil
	}
	c.w.Header().Set("Content-Type", "text/event-stream")
	c.w.Header().Set("X-Accel-Buffering", "no") // a proxy that would collect events first is asked not to
	c.w.WriteHeader(http.StatusOK)
	if c.r.Method == http.MethodHead {
		return nil
	}
	begun := false
	var text []byte // used again for each write
	text = fmt.Appendf(text, ": follows\nretry: %d\n", streamAgain.Milliseconds())
	if follower.From != "" { // who is cut off before the first message misses nothing either
		text = fmt.Appendf(text, "id: %s\n", follower.From)
	}
	err = say(append(text, '\n'))
	for err == nil {
		beat, stop := context.WithTimeout(ctx, streamBeat)
		told, trouble := follower.Next(beat)
		stop()
		text = text[:0]
		switch {
		case ctx.Err() != nil:
			return last(context.Cause(ctx))
		case errors.Is(trouble, context.DeadlineExceeded):
			text = append(text, ": beat\n\n"...)
		case errors.Is(trouble, feed.ErrBehind) && !begun:
			text = append(text, ": some events before are no longer kept; the list of events has them\n\n"...)
		case trouble != nil:
			return nil
		}
		begun = true
		if text, err = s.tell(c, text, told); err != nil {
			return last(err)
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

// tokenEnded is why a stream ends that was let in.
func tokenEnded() error {
	return vms.NewError(http.StatusUnauthorized, vms.ReasonUnauthenticated,
		"The token of this stream is no longer good: get a new one, and open the stream with it")
}

func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// tell appends messages of those events that the caller wants and may see. The error says that the
// stream is over: also where the store cannot say who may see what, so that the caller comes again
// behind its last message.
func (s *Server) tell(c *call, text []byte, events []*feed.Told) ([]byte, error) {
	if len(events) == 0 {
		_, err := s.subs.own(c, func(*subscription) {})
		return text, err
	}
	p, at, err := s.principal(c)
	if gone(c, p, err) {
		return text, tokenEnded()
	}
	if err != nil {
		return text, err
	}
	if events = at.concern(p, events); len(events) == 0 {
		return text, nil
	}
	sub, err := s.subs.own(c, func(*subscription) {})
	if err != nil {
		return text, err
	}
	wanted := events[:0]
	for _, t := range events {
		if sub.wants(p, &t.Event) {
			wanted = append(wanted, t)
		}
	}
	base, twice := s.here(c.r).String(), c.r.URL.Query().Has(argSignature)
	seen, err := s.seen(c.r.Context(), at, p, wanted)
	if err != nil {
		return text, err
	}
	for _, t := range seen {
		var message []byte
		if ev := &t.Event; p.Called(ev.ActorAccountID, vms.Actor{Type: ev.ActorType, ID: ev.ActorID}) == ev.ActorID {
			message, err = t.Message(base)
		} else {
			message, err = feed.Message(t.ID, called(p, *ev).WithOverlayImage().WithImagesAt(base))
		}
		if err != nil {
			return text, err
		}
		text = append(text, message...)
		if twice {
			text = append(text, feed.Unnamed(message)...)
		}
	}
	return text, nil
}

// wants reports whether an event, as the caller knows it, passes one of the filters.
func (sub *subscription) wants(p identity.Principal, ev *vms.Event) bool {
	actor := ""
	for i := range sub.Filters {
		f := &sub.Filters[i]
		if actor == "" && len(f.Actors) > 0 {
			actor = ev.ActorType + ":" + p.Called(ev.ActorAccountID, vms.Actor{Type: ev.ActorType, ID: ev.ActorID})
		}
		if f.lets(actor, ev.Type) {
			return true
		}
	}
	return false
}
