package notify

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// MailerOptions of New. The zero value is right outside tests.
type MailerOptions struct {
	// First is the time until a message that failed is tried again; each further one is twice as
	// long, up to 5 minutes. 2 s if 0.
	First time.Duration
	// Capacity is how many messages may wait by one channel; 1000 if 0.
	Capacity int
	// Done is told of each message that was taken and is done with: it was sent, or given up for
	// good. It is not told of what waits when Run ends. nil: nobody is told.
	Done func(Message)
	Log  *slog.Logger
}

const (
	firstPause = 2 * time.Second
	longest    = 5 * time.Minute
	// A code is dead after 15 minutes, and worth nothing to someone who has given up before.
	codeTime    = 10 * time.Minute
	messageTime = 24 * time.Hour
	// senders is how many messages of a channel go out at once, so that a slow recipient does not
	// hold the others up.
	senders = 4
)

// transport hands a message over, once. The error is a refusal if another try would fail as well.
type transport interface {
	send(ctx context.Context, l Message) error
}

// refusal is an error that stays.
type refusal struct{ error }

// Mailer sends messages. Safe for concurrent use. Nothing goes out until Run.
type Mailer struct {
	lines map[Channel]*outgoing
	done  func(Message)
	log   *slog.Logger
}

// outgoing is one channel: who carries, and what waits.
type outgoing struct {
	transport transport
	queue     *queue
}

// NewMailer makes a Mailer. It reaches for no server yet.
func NewMailer(s Settings, o MailerOptions) (*Mailer, error) {
	if o.First == 0 {
		o.First = firstPause
	}
	if o.Capacity == 0 {
		o.Capacity = 1000
	}
	mailer := &Mailer{lines: map[Channel]*outgoing{}, done: o.Done, log: o.Log}
	if mailer.done == nil {
		mailer.done = func(Message) {}
	}
	if mailer.log == nil {
		mailer.log = slog.New(slog.DiscardHandler)
	}
	if s.Mail != nil {
		c, err := newSMTP(*s.Mail, s.Pages)
		if err != nil {
			return nil, fmt.Errorf("settings of letters: %w", err)
		}
		mailer.lines[Mail] = &outgoing{c, newQueue(o)}
	}
	if s.SMS != nil {
		c, err := newGateway(*s.SMS, s.Pages)
		if err != nil {
			return nil, fmt.Errorf("settings of letters: %w", err)
		}
		mailer.lines[Text] = &outgoing{c, newQueue(o)}
	}
	return mailer, nil
}

// Can says whether a channel is configured.
func (o *Mailer) Can(c Channel) bool { return o.lines[c] != nil }

// Send takes a message and does not wait: it only looks whether there is a way and room. The error
// is ErrNoChannel or ErrFull.
func (o *Mailer) Send(l Message) error {
	way := o.lines[l.Channel]
	if way == nil || l.To == "" {
		return ErrNoChannel
	}
	until := l.Until
	if until.IsZero() {
		until = time.Now().Add(messageTime)
	}
	if l.Kind == Code {
		until = time.Now().Add(codeTime)
	}
	return way.queue.put(l, until)
}

// Run carries messages until ctx is done. What is on its way then is cut off; what waits is lost,
// but for what its sender has noted.
func (o *Mailer) Run(ctx context.Context) error {
	var g sync.WaitGroup
	for _, way := range o.lines {
		for range senders {
			g.Go(func() {
				for {
					job, ok := way.queue.next(ctx)
					if !ok {
						return
					}
					o.deliver(ctx, way, job)
				}
			})
		}
	}
	g.Wait()
	for channel, way := range o.lines {
		if noted, lost := way.queue.remaining(); noted+lost > 0 {
			o.log.Warn("messages were not sent before the end", "channel", channel, "for_next_start", noted, "lost",
				lost)
		}
		if gw, ok := way.transport.(*gateway); ok {
			gw.client.CloseIdleConnections()
		}
	}
	return nil
}

// deliver tries once, and puts the message back if that failed in a way that may pass.
func (o *Mailer) deliver(ctx context.Context, way *outgoing, j job) {
	err := way.transport.send(ctx, j.message)
	j.tries++
	switch {
	case err == nil:
		o.done(j.message)
		o.log.Debug("message sent", "kind", j.message.Kind, "channel", j.message.Channel, "tries", j.tries)
	case errors.As(err, new(refusal)):
		o.done(j.message)
		o.log.Warn("a message was refused", "kind", j.message.Kind, "channel", j.message.Channel, "error",
			safe(err, j.message))
	case ctx.Err() != nil:
		way.queue.again(j)
	case !way.queue.again(j):
		o.done(j.message)
		o.log.Error("a message could not be sent and was given up", "kind", j.message.Kind, "channel",
			j.message.Channel, "tries", j.tries,
			"error", safe(err, j.message), "hint", "check the settings of letters, and that the server can be reached")
	default:
		o.log.Warn("a message could not be sent; it will be tried again", "kind", j.message.Kind, "channel",
			j.message.Channel, "tries", j.tries,
			"error", safe(err, j.message))
	}
}

// safe is an error's text without what the message holds: a server may repeat lines that it does
// not like.
func safe(err error, l Message) string {
	text := err.Error()
	for _, s := range []string{l.Token, l.Code, l.To, l.Name} {
		if s != "" {
			text = strings.ReplaceAll(text, s, "…")
		}
	}
	return text
}
