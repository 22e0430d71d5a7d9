package presence

import (
	"cmp"
	"time"

	"vmsbridge/uplink/vms"
)

// Reasons in the events of this package.
const (
	whyOnline  = "the service hears of the bridge"
	whyAway    = "the service does not hear of the bridge any more"
	whyGoesOn  = "the bridge is back, and the camera as it was"
	whyAsItWas = "the bridge is back, and says so"
)

// began begins the first span of a bridge.
func (w *Watch) began(d Device) error {
	if _, _, known := w.o.Cameras(d.Account, d.Actor.ID); !known {
		w.forget(d)
		return nil
	}
	w.mu.Lock()
	at := w.wall(w.bridges[d].last)
	w.mu.Unlock()
	first := begin(d, vms.StatusOnline, at, state{}, whyOnline)
	return w.amend([]Device{d}, func([]vms.Event) (ended, begun []vms.Event) { return nil, []vms.Event{first} })
}

// amend has the book store what change makes of those events of devices of an account that go on:
// those that end, and those that begin a span of the service's own. Who reads of one may ask at
// once what is: it is known before.
func (w *Watch) amend(devices []Device, change func(ongoing []vms.Event) (ended, begun []vms.Event)) error {
	return w.o.Book.Amend(devices[0].Account, actors(devices), func(ongoing []vms.Event) ([]vms.Event, func()) {
		ended, begun := change(ongoing)
		before := map[Device]held{}
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, ev := range begun {
			d := deviceOf(ev)
			if h, ok := w.held[d]; ok {
				before[d] = h
			}
			w.held[d] = hold(ev)
		}
		return append(ended, begun...), func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			for _, ev := range begun {
				d := deviceOf(ev)
				if delete(w.held, d); before[d].status != "" {
					w.held[d] = before[d]
				}
			}
		}
	})
}

// lost writes that a bridge is away since it was last heard of.
func (w *Watch) lost(d Device) error {
	w.mu.Lock()
	b := w.bridges[d]
	last, due := b.last, w.silentLocked(b, time.Now())
	w.mu.Unlock()
	at, now := w.wall(last), w.o.Now()
	if !due {
		return nil
	}
	devices := []Device{d}
	on, _, known := w.o.Cameras(d.Account, d.Actor.ID)
	if !known {
		w.forget(d)
		return nil
	}
	for _, id := range on {
		devices = append(devices, CameraOf(d.Account, id))
	}
	cut := 0
	err := w.amend(devices, func(ongoing []vms.Event) (ended, begun []vms.Event) {
		begun, ended, cut = away(devices, ongoing, at, now)
		return ended, begun
	})
	if err != nil {
		return err
	}
	w.mu.Lock()
	b.away, b.back, b.statuses, b.fresh = true, time.Time{}, nil, false
	if b.tunnels > 0 || b.last.After(last) { // it came back meanwhile
		b.back = b.last
	}
	w.mu.Unlock()
	w.o.Log.Warn("a bridge is away: look at its power and its link", "bridge", d.Actor.ID, "account", d.Account,
		"last_heard_of", at, "cameras", len(on), "spans_cut_off", cut)
	return nil
}

// away is what becomes of the events of devices that go on when nothing was heard of them since
// last, now: dark are those that begin, ended those that end; cut is how many of the latter are not
// status spans.
func away(devices []Device, ongoing []vms.Event, last, now time.Time) (dark, ended []vms.Event, cut int) {
	since, before := map[Device]time.Time{}, map[Device]state{}
	for _, ev := range ongoing {
		if s := stateOf(ev); s.status != "" && ev.CreatorID == vms.CreatorHealth {
			before[deviceOf(ev)] = s
		}
	}
	for _, d := range devices {
		at, was := before[d].next(last, now)
		since[d] = at
		dark = append(dark, begin(d, vms.StatusBridgeOffline, at, was, whyAway))
	}
	for _, ev := range ongoing {
		switch {
		case Ours(ev):
			ended = append(ended, end(ev, since[deviceOf(ev)]))
		case ev.CreatorID == vms.CreatorHealth && ev.Type == vms.TypeDeviceStatus:
			ended = append(ended, Cut(ev, since[deviceOf(ev)]))
		case ev.CreatorID == vms.CreatorMotion:
			ended = append(ended, Cut(ev, last))
			cut++
		}
	}
	return dark, ended, cut
}

// returned writes that a bridge is back. Its cameras follow as it tells of them.
func (w *Watch) returned(d Device) error {
	w.mu.Lock()
	at, h := w.wall(w.bridges[d].back), w.held[d]
	w.mu.Unlock()
	next, err := w.follow(d, h, at, vms.StatusOnline, whyOnline)
	if err != nil {
		return err
	}
	w.mu.Lock()
	b := w.bridges[d]
	b.away, b.look = false, time.Time{}
	w.mu.Unlock()
	w.o.Log.Info("a bridge is back", "bridge", d.Actor.ID, "account", d.Account, "away_since", h.since, "after",
		next.since.Sub(h.since))
	return nil
}

// follow ends a span of the service's own and begins the next one, of another status.
func (w *Watch) follow(d Device, h held, at time.Time, status, why string) (next held, err error) {
	at, was := h.next(at, w.o.Now())
	next = hold(begin(d, status, at, was, why))
	return next, w.amend([]Device{d}, func([]vms.Event) (ended, begun []vms.Event) {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.held[d].event.ID != h.event.ID { // the bridge has told meanwhile
			return nil, nil
		}
		return []vms.Event{end(h.event, at)}, []vms.Event{next.event}
	})
}

// settled gives the cameras of a bridge that is back the states that its registration tells, where
// none is to be expected from its events.
func (w *Watch) settled(d Device) error {
	on, gone, _ := w.o.Cameras(d.Account, d.Actor.ID)
	now := time.Now()
	type step struct {
		d      Device
		h      held
		status string
		why    string
	}
	var steps []step
	w.mu.Lock()
	b := w.bridges[d]
	back, late := b.back, now.Sub(b.back) > patience
	waits := false
	for _, id := range on {
		c := CameraOf(d.Account, id)
		h := w.held[c]
		if h.status != vms.StatusBridgeOffline {
			continue
		}
		was := previous(h.event)
		status := cmp.Or(b.statuses[id], was)
		switch {
		case !b.fresh && status == was && was != "":
			steps = append(steps, step{c, h, status, whyGoesOn})
		case late && status != "" && status != vms.StatusUnknown:
			steps = append(steps, step{c, h, status, whyAsItWas})
		default:
			waits = true
		}
	}
	for _, id := range gone {
		if c := CameraOf(d.Account, id); w.held[c].status == vms.StatusBridgeOffline {
			steps = append(steps, step{c, w.held[c], vms.StatusOff, whyAsItWas})
		}
	}
	if b.look = back.Add(patience); late {
		b.look = now.Add(patience)
	}
	w.mu.Unlock()
	for _, s := range steps {
		if _, err := w.follow(s.d, s.h, w.wall(back), s.status, s.why); err != nil {
			return err
		}
	}
	if !waits {
		w.mu.Lock()
		defer w.mu.Unlock()
		if b.back.Equal(back) {
			b.back, b.statuses, b.fresh = time.Time{}, nil, false
		}
	}
	return nil
}

func actors(devices []Device) []vms.Actor {
	out := make([]vms.Actor, len(devices))
	for i, d := range devices {
		out[i] = d.Actor
	}
	return out
}
