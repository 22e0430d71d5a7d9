package archive

import (
	"time"

	"vmsbridge/agent/clock"
	"vmsbridge/uplink/vms"
)

// steadyFor is how long the time must have been known, without a step, before the age of a record
// counts for anything. A clock that jumped years ahead must not let the journal forget everything:
// it is wrong, and if it is not, an hour later is early enough.
const steadyFor = time.Hour

// aged is the time before which what has an age limit is too old; zero, for none, where there is no
// limit, while the time is not known for long, or not all records have their right times yet.
func (s *Archive) aged(limit time.Duration) time.Time {
	st, now := s.clock.State(), s.clock.True(s.clock.Now())
	since := st.Since
	if step := st.LastStep.At; !step.IsZero() {
		since = step
	}
	if limit <= 0 || st.Source == clock.Waiting || st.Unmoved || now.Sub(since) < steadyFor {
		return time.Time{}
	}
	return now.Add(-limit)
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
