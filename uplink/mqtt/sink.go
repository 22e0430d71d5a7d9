package mqtt

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"vmsbridge/uplink/delivery"
	"vmsbridge/uplink/vms"
)

const (
	// batch is how many entries are under way at once.
	batch = 64
	// resync is how often the states are held against the journal, in case an event went without a
	// change.
	resync = time.Minute
	// drainTime bounds the goodbye.
	drainTime = 1500 * time.Millisecond
)

// line is the connection and what is known of the broker through it. It belongs to whoever holds
// the turn.
type line struct {
	turn    chan struct{} // buffered 1
	session *session      // nil: none
	board   *board
	untrue  bool // events were seen that change their ids
}

// take waits for the turn.
func (l *line) take(ctx context.Context) error {
	select {
	case l.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *line) leave() { <-l.turn }

// hangUp ends the connection.
func (l *line) hangUp() {
	if l.session != nil {
		l.session.close()
		l.session = nil
	}
}

// Open connects and greets the broker, for delivery.Options.
func (b *Broker) Open(ctx context.Context) (<-chan delivery.Verdict, delivery.Verdict) {
	if err := b.line.take(ctx); err != nil {
		return nil, b.verdict(err)
	}
	defer b.line.leave()
	b.line.hangUp()
	s, err := b.connect(ctx)
	if err != nil {
		return nil, b.verdict(err)
	}
	b.line.board = newBoard(b.names, b.opts.Cameras)
	if err := b.announceAll(ctx, s, b.line.board); err != nil {
		s.close()
		return nil, b.verdict(err)
	}
	b.listens(ctx, s)
	b.line.session = s
	lost := make(chan delivery.Verdict, 1)
	b.watching.Go(func() {
		<-s.lost()
		if !b.stopped.Load() {
			lost <- b.verdict(s.why())
		}
	})
	b.Log().Info("the MQTT broker takes events", "address", b.addr)
	return lost, delivery.Verdict{}
}

// verdict says what follows from an error. Where the broker says that the bridge may not publish,
// or that another one came under its name, no event is to blame.
func (b *Broker) verdict(err error) delivery.Verdict {
	v := delivery.Verdict{Kind: delivery.OfSink, Err: err, Hint: b.hint(err)}
	if no := (*refusedError)(nil); errors.As(err, &no) &&
		(no.login || no.code == takenOver || no.topic != "" && !no.message) {
		v.Kind = delivery.OfToken
	}
	return v
}

// announceAll publishes what must be known before anything else: what there is, how it is, and that
// the bridge is there. What an earlier configuration left is taken away.
func (b *Broker) announceAll(ctx context.Context, s *session, states *board) error {
	var list []message
	if b.names.discovery != "" {
		list = discovery(b.names, b.opts.Bridge, b.opts.Cameras, b.opts.Arm != nil)
	}
	ongoing, err := b.opts.Ongoing()
	if err != nil {
		return err
	}
	list = append(list, states.reset(ongoing, true)...)
	if b.opts.Arm != nil {
		armed, _ := b.opts.Armed()
		list = states.arm(list, b.opts.Cameras, armed)
	}
	list = append(list, message{topic: b.names.status(), payload: []byte(online), retain: true})
	before, now := b.recall(), b.retained(list)
	known := slices.Equal(before, now) // then nothing is to be written at each connection
	if !known {
		both := slices.Concat(before, now)
		slices.Sort(both)
		b.remember(slices.Compact(both))
	}
	list = append(stale(before, now), list...)
	if _, err := s.publish(ctx, list); err != nil {
		return fmt.Errorf("publish the state to the broker: %w", err)
	}
	if !known {
		b.remember(now)
	}
	return nil
}

// Send is for delivery.Sink. Entries that are not the newest of their event only change the
// states.
func (b *Broker) Send(ctx context.Context, list []vms.Queued) []delivery.Verdict {
	l := &b.line
	if err := l.take(ctx); err != nil {
		return nil
	}
	defer l.leave()
	if l.session == nil {
		return []delivery.Verdict{b.verdict(errBroken)}
	}
	var messages []message
	ends := make([]int, len(list)) // of each entry's messages
	verdicts := make([]delivery.Verdict, len(list))
	for i, q := range list {
		messages = l.board.apply(messages, q, b.Feed().Now())
		l.untrue = l.untrue || q.Untrue
		verdicts[i].Kind = delivery.Passed
		if q.Newest && !q.Untrue { // one whose times are not right yet comes again as an event
			body, err := json.Marshal(q.Event)
			if err != nil {
				verdicts[i] = delivery.Verdict{Kind: delivery.Refused, Err: err}
			} else {
				verdicts[i].Kind = delivery.Taken
				messages = append(messages, message{topic: b.names.events(), payload: body, revision: q.Place})
				if m, ok := b.names.crossed(q, b.Feed().Now()); ok {
					messages = append(messages, m)
				}
			}
		}
		ends[i] = len(messages)
	}
	acked, err := l.session.publish(ctx, messages)
	if err == nil && l.untrue { // such an event may have another id by now
		err = b.settle(ctx)
	}
	if err == nil {
		b.publishPictures(ctx, list)
		return verdicts
	}
	if errors.Is(err, errBroken) {
		err = l.session.why()
	}
	l.hangUp()
	n := 0
	for n < len(list) && ends[n] <= acked {
		n++
	}
	if n == len(list) {
		return verdicts // all arrived; the loss is noticed by itself
	}
	return append(verdicts[:n], b.verdict(fmt.Errorf("publish events: %w", err)))
}

// settle publishes the states as the journal has them now.
func (b *Broker) settle(ctx context.Context) error {
	ongoing, err := b.opts.Ongoing()
	if err != nil {
		return err
	}
	_, err = b.line.session.publish(ctx, b.line.board.reset(ongoing, false))
	return err
}

// resync settles now and then, until ctx is done.
func (b *Broker) resync(ctx context.Context) {
	tick := time.NewTicker(resync)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if b.line.take(ctx) != nil {
			return
		}
		if b.line.session != nil && b.settle(ctx) != nil {
			b.line.hangUp() // which is noticed
		}
		b.line.leave()
	}
}

// Run hands events over until ctx is done, then what is left for a moment, and says goodbye, so
// that the broker need not say it. It returns nil.
func (b *Broker) Run(ctx context.Context) error {
	b.watching.Go(func() { b.resync(ctx) })
	if b.opts.Arm != nil {
		b.watching.Go(func() { b.arms(ctx) })
	}
	err := b.Follower.Run(ctx)
	b.stopped.Store(true)
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancel()
	if b.line.take(limited) == nil {
		if b.line.session != nil {
			_, _ = b.line.session.publish(limited,
				[]message{{topic: b.names.status(), payload: []byte(offline), retain: true}})
			b.line.hangUp()
		}
		b.line.leave()
	}
	b.watching.Wait()
	return err
}
