package server

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"vmsbridge/uplink/vms"
)

// Limits and defaults of eventMetrics. Each interval costs a look into the index.
const (
	countSpan     = 7 * 24 * time.Hour
	countMinutes  = 60
	maxIntervals  = 5000 // of a request
	maxAggregated = 60 * 24 * 31
)

// counts is one list of eventMetrics: how many events of a type an actor began in each interval.
type counts struct {
	EventType string     `json:"eventType"`
	ActorID   string     `json:"actorId"`
	ActorType string     `json:"actorType"`
	Target    string     `json:"target"`
	Points    [][2]int64 `json:"dataPoints"` // the interval's begin in milliseconds, and how many
}

// countEvents is GET /eventMetrics. Intervals begin at whole multiples of their length; the first
// and the last are cut at the times asked for.
func (s *Server) countEvents(c *call) error {
	a := c.args
	actors, types := a.actors(), a.canonicalList("eventType")
	if !a.has("actor") && !a.has("actor__in") {
		a.miss("actor")
	}
	if !a.has("eventType") {
		a.miss("eventType")
	}
	from, to := a.lowerBound("timestamp__gte"), a.upperBound("timestamp__lte")
	if to == nil {
		to = vms.Ptr(time.Now())
	}
	if from == nil {
		from = vms.Ptr(to.Add(-countSpan))
	}
	minutes := countMinutes
	if v := a.one("aggregateByMinutes"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil || n < 1 || n > maxAggregated {
			a.bad("aggregateByMinutes", fmt.Sprintf("must be a whole number from 1 to %d", maxAggregated))
			n = countMinutes
		}
		minutes = n
	}
	length := time.Duration(minutes) * time.Minute
	if n := int64(to.Sub(from.Time)/length+2) * int64(len(actors)*len(types)); n > maxIntervals && len(a.wrong) == 0 {
		a.bad("aggregateByMinutes", fmt.Sprintf("makes %d intervals, at most %d are counted at once: take longer ones",
			n, maxIntervals))
	}
	if err := errors.Join(a.err(), checkEvents(c)); err != nil {
		return err
	}
	out := []counts{}
	for _, actor := range actors {
		if err := s.checkActor(c.r.Context(), c, actor); err != nil {
			return err
		}
		for _, typ := range types {
			one := counts{typ, actor.ID, actor.Type, "count", [][2]int64{}}
			for at := from.Truncate(length); !at.After(to.Time); at = at.Add(length) {
				first, last := vms.At(at), vms.At(at.Add(length-time.Millisecond))
				q := vms.Query{Actors: []vms.Actor{actor}, Types: []string{typ}, PageSize: 1, StartGTE: &first,
					StartLTE: &last}
				if first.Before(from.Time) {
					q.StartGTE = from
				}
				if last.After(to.Time) {
					q.StartLTE = to
				}
				page, err := s.list(c, q, nil)
				if err != nil {
					return err
				}
				one.Points = append(one.Points, [2]int64{at.UnixMilli(), int64(page.Total)})
			}
			out = append(out, one)
		}
	}
	return c.ok(out)
}
