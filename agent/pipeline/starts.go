package pipeline

import (
	"slices"
	"time"

	"vmsbridge/uplink/vms"
)

// starts are the times at which the newest span of each region begins, as its event says it. An
// event is known by camera, type and start (vms.Event.NaturalID), and who steps into two regions
// that overlap begins to move in both with one picture: of two such events the later would replace
// the earlier. So no two regions have the same start; one of them has it a millisecond later. The
// zero value is ready. One goroutine.
type starts []regionStart

type regionStart struct {
	region      string
	seen, given time.Time // as the detector says it; as the event says it
}

// of is the start for the event of a region's span that the detector says began at seen: the same
// at its begin and at its end.
func (s *starts) of(region string, seen time.Time) time.Time {
	own := slices.IndexFunc(*s, func(r regionStart) bool { return r.region == region })
	if own < 0 {
		own = len(*s)
		*s = append(*s, regionStart{region: region})
	} else if (*s)[own].seen.Equal(seen) {
		return (*s)[own].given
	}
	given := seen
	for slices.ContainsFunc(*s, func(r regionStart) bool {
		return r.region != region && vms.At(r.given).Equal(vms.At(given).Time)
	}) {
		given = given.Add(time.Millisecond)
	}
	(*s)[own].seen, (*s)[own].given = seen, given
	return given
}

// maxMoments bounds what moments remembers: more than can be told of a camera out of order.
const maxMoments = 64

// moments gives each crossing a start of its own: an event is known by camera, type and start, and
// two who cross a line side by side do so in one millisecond. The zero value is ready. One
// goroutine.
type moments []time.Time

func (m *moments) of(t time.Time) time.Time {
	for slices.ContainsFunc(*m, func(given time.Time) bool { return vms.At(given).Equal(vms.At(t).Time) }) {
		t = t.Add(time.Millisecond)
	}
	if len(*m) == maxMoments {
		*m = append((*m)[:0], (*m)[1:]...)
	}
	*m = append(*m, t)
	return t
}
