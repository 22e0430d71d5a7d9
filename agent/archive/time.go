package archive

import (
	"time"

	"vmsbridge/agent/clock"
	"vmsbridge/uplink/vms"
)

// aged is the time before which what has an age limit is too old; zero, for none, while the time is
// not known, or not all records have their right times yet.
func (s *Archive) aged(age time.Duration) time.Time {
	if st := s.clock.State(); st.Source == clock.Waiting || st.Unmoved {
		return time.Time{}
	}
	return s.clock.True(s.clock.Now()).Add(-age)
}

// eras is both stores, for the clock.
type eras struct{ *Archive }

// SettleEvents is for clock.Stores.
func (s eras) SettleEvents(era uint32, shift time.Duration, note *clock.Note) (int, bool, error) {
	if note == nil {
		return s.Journal.Settle(era, shift, nil)
	}
	return s.Journal.Settle(era, shift, func(ev vms.Event) vms.Event { return rough(ev, *note) })
}

// SettleStills is for clock.Stores.
func (s eras) SettleStills(era uint32, shift time.Duration) error {
	return s.Ring.Settle(era, shift)
}

// Announce is for clock.Stores.
func (s eras) Announce(era uint32, shift time.Duration) {
	s.Journal.Announce(era, shift)
	s.Ring.Announce(era, shift)
}

// Extent is for clock.Stores.
func (s eras) Extent(era uint32) (from, to time.Time, ok bool, err error) {
	from, to, ok, err = s.Journal.Extent(era)
	if lo, hi, some := s.Ring.EraExtent(era); some && err == nil {
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

// rough says of an event that its times are not exact, with the details of who made it: no schema
// has a field for that, and a service that does not know this one leaves it out.
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
