package presence

import "vmsbridge/uplink/vms"

// Admit says what is to be stored when a bridge reports a camera's status event, so that the spans
// of the camera meet; stored is what the book has under its id, nil for nothing. Where a span of
// the service's own goes on, the event ends it if it began later, and else ends where that begins;
// one that goes on, and tells another status than that one, is followed by a span that tells it.
// A span that was cut off keeps its end; what it tells now is told by the span that follows it.
// undo is for the caller whose book did not take it. Nobody else may store events of the camera
// meanwhile.
func (w *Watch) Admit(ev vms.Event, stored *vms.Event) (store []vms.Event, undo func()) {
	d, keep := deviceOf(ev), func() {}
	status := stateOf(ev)
	if status.status == "" || ev.CreatorID != vms.CreatorHealth || ev.ActorType != vms.ActorCamera {
		return []vms.Event{ev}, keep
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	h, ok := w.held[d]
	put := func(next *held) func() {
		if delete(w.held, d); next != nil {
			w.held[d] = *next
		}
		return func() { w.mu.Lock(); defer w.mu.Unlock(); w.held[d] = h }
	}
	switch start := ev.StartTimestamp.Time; {
	case stored != nil && IsCut(*stored):
		switch {
		case !ok:
		case ev.Ongoing() && h.status == vms.StatusBridgeOffline:
			now := w.o.Now()
			at, was := h.next(now, now)
			next := hold(begin(d, status.status, at, was, whyGoesOn))
			return []vms.Event{end(h.event, at), next.event}, put(&next)
		case !ev.Ongoing() && h.status != vms.StatusBridgeOffline && !ev.EndTimestamp.Before(h.since):
			return []vms.Event{end(h.event, ev.EndTimestamp.Time)}, put(nil)
		}
		return nil, keep
	case !ok:
		return []vms.Event{ev}, keep
	case ev.ID == h.event.ID && ev.Ongoing(): // they began in one millisecond
		return nil, keep
	case ev.ID == h.event.ID:
		return []vms.Event{end(h.event, ev.EndTimestamp.Time)}, put(nil)
	case !start.Before(h.since), ev.Ongoing() && h.since.After(w.o.Now()): // the service's clock was ahead
		before := h.state
		if before.since.After(start) {
			before.since = start
		}
		return []vms.Event{end(h.event, start), withPrevious(ev, before)}, put(nil)
	case ev.Ongoing() && h.status != vms.StatusBridgeOffline && h.status != status.status:
		// The bridge's clock is behind the service's.
		now := w.o.Now()
		at, was := h.next(now, now)
		next := hold(begin(d, status.status, at, was, whyGoesOn))
		return []vms.Event{Cut(ev, h.since), end(h.event, at), next.event}, put(&next)
	case ev.Ongoing() || ev.EndTimestamp.After(h.since):
		return []vms.Event{Cut(ev, h.since)}, keep
	}
	return []vms.Event{ev}, keep
}
