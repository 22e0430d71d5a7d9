package presence

import (
	"context"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"vmsbridge/uplink/vms"
)

// How long a bridge may be silent before it counts as away.
const (
	// afterTunnel is how long it may take to dial again when its tunnel ended without goodbye. It
	// tries after a second.
	afterTunnel = 7 * time.Second
	// afterSilence is how long it may take where the tunnel ended because nothing came from the
	// bridge any more, which takes six seconds: the bridge, if it is there, has noticed the same a
	// moment before.
	afterSilence = 2 * time.Second
	// lastWord is how long after the end of its tunnel a report of a bridge may come in that was
	// sent before it, and lateWord how long after the tunnel's last sign one comes that a link
	// brings whose signs of life are late: a ping, after 3.5 s, was not answered.
	lastWord, lateWord = time.Second, 5 * time.Second
	// afterReport is how long a bridge on such a link may take from a report to a tunnel: to dial
	// one at 1 kB/s, behind reports, takes ten seconds.
	afterReport = 20 * time.Second
	// afterGoodbye is how long a bridge that said that it stops may take to be back: a restart, an
	// upgrade.
	afterGoodbye = 30 * time.Second
	// afterWord is how long it may be silent without a tunnel. It registers once a minute. After a
	// start of the service all have as much: their pauses between attempts grow to a minute.
	afterWord = 3 * time.Minute
	// patience is how long a bridge that is back may take to report its cameras' states, before
	// what it registered is taken for them.
	patience = time.Minute
)

const (
	stepEvery = time.Second
	// standstill is how long Run's goroutine, which is woken each second, must not have been woken.
	standstill = 5 * time.Second
	noteEvery  = 30 * time.Second
	// atOnce bounds the bridges whose events are written at a time; they share transactions.
	atOnce = 8
)

// Book keeps the events.
type Book interface {
	// Amend calls change with those events of the actors that go on, and stores what it returns;
	// where that fails, it calls undo. Nobody else stores events of these actors meanwhile.
	Amend(account string, actors []vms.Actor, change func(ongoing []vms.Event) (store []vms.Event, undo func())) error
	// Open are all events that go on.
	Open() ([]vms.Event, error)
	// Meta and SetMeta keep a small value.
	Meta(key string) ([]byte, error)
	SetMeta(key string, value []byte) error
}

// Options of New. All but Now are needed.
type Options struct {
	Book Book
	// Cameras are the ids of those that a bridge has and has switched on, and of those that it had;
	// known is false if there is no such bridge any more.
	Cameras func(account, bridge string) (on, gone []string, known bool)
	Log     *slog.Logger
	Now     func() time.Time // what events' times are by; nil: time.Now
}

// Watch is safe for concurrent use.
type Watch struct {
	o    Options
	wake chan struct{} // buffered 1: there may be something to do
	// noted is when it was noted that the service runs, and idle since when Run's goroutine has had
	// nothing to do; both are its own.
	noted, idle time.Time

	mu      sync.Mutex // guards what follows
	deaf    time.Time  // until then nobody counts as away, for the service stood still
	ran     time.Time  // by the wall clock, when the service last ran before it was started
	bridges map[Device]*bridge
	woken   map[Device]struct{} // those heard of since they were looked at
	held    map[Device]held     // the spans that the service itself began, and that go on
}

// bridge is the state of one bridge. The zero value was never heard of. Its times are as time.Now
// gives them, since for how long somebody is silent does not depend on the wall clock: see wall.
type bridge struct {
	tunnels int
	until   time.Time // when it counts as away, if nothing is heard of it; it does not count while it has a tunnel
	last    time.Time // when it was last heard of; zero: not since the service started
	cutAt   time.Time // when its tunnel ended without goodbye; zero: it has been heard of since
	// reported is when the latest report of its came in.
	reported time.Time
	left     bool      // it said goodbye
	away     bool      // the book says so
	back     time.Time // when it was heard of again after it was away; zero: its cameras have their states
	look     time.Time // when its cameras are looked at next, while back is set
	fresh    bool      // it has started anew since it was away
	// statuses are those of its cameras, from its last registration; nil: it has not registered
	// since it was away.
	statuses map[string]string
}

// held is a span of the service's own that goes on.
type held struct {
	state
	event vms.Event
}

func hold(ev vms.Event) held { return held{stateOf(ev), ev} }

// New makes one that knows nothing.
func New(o Options) *Watch {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Watch{o: o, wake: make(chan struct{}, 1), bridges: map[Device]*bridge{}, woken: map[Device]struct{}{},
		held: map[Device]held{}}
}

// keyAlive is when the service last ran, in milliseconds.
const keyAlive = "presence/alive"

// Load reads what the book says. Each of the bridges that was there when the service last ran has
// afterWord to be heard of.
func (w *Watch) Load(bridges []Device) error {
	open, err := w.o.Book.Open()
	if err != nil {
		return err
	}
	raw, err := w.o.Book.Meta(keyAlive)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ran = w.o.Now()
	if ms, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		w.ran = time.UnixMilli(ms)
	}
	for _, ev := range open {
		if Ours(ev) {
			w.held[deviceOf(ev)] = hold(ev)
		}
	}
	for _, d := range bridges {
		h, ok := w.held[d]
		if ok { // else it has never been heard of since there are such events
			w.bridges[d] = &bridge{until: time.Now().Add(afterWord), away: h.status == vms.StatusBridgeOffline}
		}
	}
	return nil
}

// Away says whether a device is out of reach for its bridge is, as the events say it.
func (w *Watch) Away(account string, actor vms.Actor) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.held[Device{account, actor}].status == vms.StatusBridgeOffline
}

// LastSeen is when a bridge was last heard of, by the wall clock: now while it has a tunnel, zero
// if that was before the service started.
func (w *Watch) LastSeen(account, id string) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	d := BridgeOf(account, id)
	b, h := w.bridges[d], w.held[d]
	switch {
	case b != nil && b.tunnels > 0:
		return w.o.Now()
	case b != nil && !b.last.IsZero():
		return w.wall(b.last)
	case h.status == vms.StatusBridgeOffline:
		return h.since
	}
	return time.Time{}
}

// Outages are the events of the bridges that are away.
func (w *Watch) Outages() (list []vms.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for d, h := range w.held {
		if d.Actor.Type == vms.ActorBridge && h.status == vms.StatusBridgeOffline {
			list = append(list, h.event)
		}
	}
	return list
}

// TunnelStands notes that a bridge has opened a tunnel. It may have several for a moment.
func (w *Watch) TunnelStands(d Device) {
	w.hear(d, func(b *bridge) { b.tunnels++; b.heard(time.Now()) })
}

// TunnelEnded notes that a tunnel has ended, and when the bridge was last heard of.
func (w *Watch) TunnelEnded(d Device, last time.Time) {
	w.hear(d, func(b *bridge) {
		b.tunnels--
		grace := afterTunnel
		if b.reported.Sub(last) > lateWord {
			grace = afterReport
		}
		if b.reported.After(last) {
			last = b.reported
		}
		if b.last = last; b.tunnels == 0 && !b.left {
			b.cutAt, b.until = time.Now(), last.Add(grace)
			if soon := b.cutAt.Add(afterSilence); b.until.Before(soon) {
				b.until = soon
			}
		}
	})
}

// Registered notes a registration, with the cameras' statuses. fresh says that the bridge has
// started anew since the last one.
func (w *Watch) Registered(d Device, statuses map[string]string, fresh bool) {
	w.hear(d, func(b *bridge) {
		b.heard(time.Now())
		b.statuses, b.fresh, b.look = statuses, b.fresh || fresh, time.Time{}
	})
}

// Reported notes that a report of a bridge came in. That keeps one there that has no tunnel. Of one
// whose tunnel has just ended it may be the last word, which was under way; but one that comes
// later says that the bridge is there, on a link that is too slow for a tunnel.
func (w *Watch) Reported(d Device, at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	b := w.bridges[d]
	if b != nil {
		b.reported = at
	}
	switch {
	case b == nil || b.left || b.away || b.tunnels > 0:
	case b.cutAt.IsZero():
		b.last, b.until = at, at.Add(afterWord)
	case at.Sub(b.cutAt) > lastWord:
		b.last, b.until = at, at.Add(afterReport)
	}
}

// Left notes that a bridge said goodbye: it stops, and may be back in a moment.
func (w *Watch) Left(d Device) {
	w.hear(d, func(b *bridge) {
		b.left, b.cutAt, b.last, b.until = true, time.Time{}, time.Now(), time.Now().Add(afterGoodbye)
	})
}

func (w *Watch) hear(d Device, note func(*bridge)) {
	w.mu.Lock()
	b := w.bridges[d]
	if b == nil {
		b = &bridge{}
		w.bridges[d] = b
	}
	note(b)
	due := w.dueLocked(d, b, time.Now()) != nil
	if due {
		w.woken[d] = struct{}{}
	}
	w.mu.Unlock()
	if due {
		select {
		case w.wake <- struct{}{}:
		default:
		}
	}
}

// wall is what the wall clock, as it is set now, calls a moment of the process. A machine without a
// clock of its own starts at a time before that at which the service last ran, and is set later.
func (w *Watch) wall(t time.Time) time.Time {
	now := w.o.Now()
	switch {
	case !t.IsZero():
		return now.Add(time.Until(t))
	case w.ran.Before(now):
		return w.ran
	}
	return now
}

// heard notes a sign of life.
func (b *bridge) heard(now time.Time) {
	b.last, b.until, b.cutAt, b.left = now, now.Add(afterWord), time.Time{}, false
	if b.away && b.back.IsZero() {
		b.back = now
	}
}

// Run writes what there is to be written until ctx is done.
func (w *Watch) Run(ctx context.Context) error {
	tick := time.NewTicker(stepEvery)
	defer tick.Stop()
	for w.idle = time.Now(); ; w.idle = time.Now() {
		select {
		case <-ctx.Done():
			w.note()
			return nil
		case <-tick.C:
			w.step(ctx, true)
		case <-w.wake:
			w.step(ctx, false)
		}
		if now := time.Now(); now.Sub(w.noted) >= noteEvery {
			w.noted = now
			w.note()
		}
	}
}

// note notes that the service runs.
func (w *Watch) note() {
	if err := w.o.Book.SetMeta(keyAlive, strconv.AppendInt(nil, w.o.Now().UnixMilli(), 10)); err != nil {
		w.o.Log.Warn("note that the service runs", "error", err)
	}
}

// forget drops the state of a deleted bridge.
func (w *Watch) forget(d Device) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.bridges, d)
	delete(w.held, d)
}

// step writes what is due, of all bridges or of those heard of since the last step. With
// thousands of bridges somebody is heard of all the time.
func (w *Watch) step(ctx context.Context, all bool) {
	type job struct {
		d    Device
		what func(Device) error
	}
	var jobs []job
	now := time.Now()
	w.mu.Lock()
	w.stoodLocked(now)
	look := func(d Device, b *bridge) {
		if what := w.dueLocked(d, b, now); what != nil {
			jobs = append(jobs, job{d, what})
		}
	}
	if all {
		for d, b := range w.bridges {
			look(d, b)
		}
	} else {
		for d := range w.woken {
			if b := w.bridges[d]; b != nil {
				look(d, b)
			}
		}
	}
	clear(w.woken)
	w.mu.Unlock()
	var g errgroup.Group
	g.SetLimit(atOnce)
	for _, j := range jobs {
		if ctx.Err() != nil {
			break
		}
		g.Go(func() error {
			if err := j.what(j.d); err != nil {
				w.o.Log.Error("the events of a bridge that came or went could not be stored; it is tried again",
					"bridge", j.d.Actor.ID, "error", err)
			}
			return nil
		})
	}
	_ = g.Wait()
}

// stoodLocked looks whether the service stood still, as one that is stopped and goes on does: it
// has heard of nobody meanwhile, and whose attempts failed may wait as long before the next one.
func (w *Watch) stoodLocked(now time.Time) {
	if stood := now.Sub(w.idle); stood > standstill {
		w.deaf = now.Add(min(max(stood, afterTunnel), afterWord))
	}
}

// silentLocked says whether a bridge counts as away.
func (w *Watch) silentLocked(b *bridge, now time.Time) bool {
	return b.tunnels == 0 && !now.Before(b.until) && !now.Before(w.deaf)
}

// dueLocked is what is to be written of a bridge now, nil for nothing.
func (w *Watch) dueLocked(d Device, b *bridge, now time.Time) func(Device) error {
	_, known := w.held[d]
	switch {
	case !known && !b.last.IsZero():
		return w.began
	case b.away && b.back.IsZero():
		return nil
	case b.away:
		return w.returned
	case w.silentLocked(b, now):
		return w.lost
	case !b.back.IsZero() && b.statuses != nil && !now.Before(b.look):
		return w.settled
	}
	return nil
}
