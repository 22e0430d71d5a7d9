package agent

import (
	"time"

	"vmsbridge/agent/clock"
	"vmsbridge/uplink/vms"
)

// newClock makes the bridge's one source of time; see agent/clock.
func (a *Agent) newClock() *clock.Clock {
	c := clock.New(clock.Options{Machine: a.opts.Machine, Wait: a.cfg().Clock.Wait, Alone: a.cfg().Service.URL == "", Built: clock.Built(),
		Settle: a.opts.settle, Stepped: func(s clock.Step) { a.hurt.Clock(s) }, Log: a.log, Registerer: a.reg})
	a.hurt.now = c.Now
	return c
}

// now is the true time, as far as it is known.
func (a *Agent) now() time.Time { return a.clock.True(a.clock.Now()) }

// aged is the time before which what has an age limit is too old; zero, for none, while the time is not known, or not all records
// have their right times yet.
func (a *Agent) aged(age time.Duration) time.Time {
	if s := a.clock.State(); s.Source == clock.Waiting || s.Unmoved {
		return time.Time{}
	}
	return a.now().Add(-age)
}

// archive is both stores, for the clock.
type archive struct{ a *Agent }

// SettleEvents is for clock.Stores.
func (s archive) SettleEvents(era uint32, shift time.Duration, note *clock.Note) (int, bool, error) {
	if note == nil {
		return s.a.journal.Settle(era, shift, nil)
	}
	return s.a.journal.Settle(era, shift, func(ev vms.Event) vms.Event { return rough(ev, *note) })
}

// SettleStills is for clock.Stores.
func (s archive) SettleStills(era uint32, shift time.Duration) error {
	return s.a.ring.Settle(era, shift)
}

// Announce is for clock.Stores.
func (s archive) Announce(era uint32, shift time.Duration) {
	s.a.journal.Announce(era, shift)
	s.a.ring.Announce(era, shift)
}

// Extent is for clock.Stores.
func (s archive) Extent(era uint32) (from, to time.Time, ok bool, err error) {
	from, to, ok, err = s.a.journal.Extent(era)
	if lo, hi, some := s.a.ring.EraExtent(era); some && err == nil {
		if !ok || lo.Before(from) {
			from = lo
		}
		if !ok || hi.After(to) {
			to = hi
		}
		ok = true
	}
	return from, to, ok, err
}

// rough says of an event that its times are not exact, with the details of who made it: no schema has a field for that, and a service
// that does not know this one leaves it out.
func rough(ev vms.Event, n clock.Note) vms.Event {
	note := map[string]any{"certain": false, "placed": "before the next start of the machine"}
	if n.SameClock {
		note["placed"] = "by the machine's own clock"
	}
	if n.Slack >= 0 {
		note["maxEarlierSeconds"] = n.Slack.Seconds()
	}
	for i, d := range ev.Data {
		if d.Type == vms.SchemaCreatorDetails {
			ev.Data[i] = d.WithField("time", note)
		}
	}
	return ev
}

// clockStatus is what the status page says of the clock.
func clockStatus(s clock.State) map[string]any {
	out := map[string]any{"true": s.Source != clock.Waiting, "since": vms.At(s.Since), "steps": s.Steps}
	if s.Source != clock.Waiting {
		out["source"] = string(s.Source)
	} else {
		out["waitsFor"] = s.WhyNot
	}
	if !s.LastStep.At.IsZero() {
		out["lastStep"] = map[string]any{"at": vms.At(s.LastStep.At), "bySeconds": s.LastStep.By.Seconds()}
	}
	if s.Unplaced > 0 {
		out["roughlyPlacedEvents"] = s.Unplaced
	}
	return out
}
