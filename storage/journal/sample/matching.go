package sample

import (
	"cmp"
	"slices"

	"vmsbridge/uplink/vms"
)

// Matching is all of events that a query asks for, in its order, without pages: the model that the
// stores' lists are held against.
func Matching(events map[string]vms.Event, q vms.Query) []vms.Event {
	list := []vms.Event{}
	for _, ev := range events {
		end := ev.EndTimestamp
		switch {
		case len(q.Actors) > 0 && !slices.Contains(q.Actors, vms.Actor{Type: ev.ActorType, ID: ev.ActorID}),
			len(q.Types) > 0 && !slices.Contains(q.Types, ev.Type),
			q.StartGTE != nil && ev.StartTimestamp.Before(q.StartGTE.Time),
			q.StartLTE != nil && ev.StartTimestamp.After(q.StartLTE.Time),
			(q.EndGTE != nil || q.EndLTE != nil) && end == nil && !q.Open,
			q.Open && end == nil && q.EndLTE != nil && ev.StartTimestamp.After(q.EndLTE.Time),
			q.EndGTE != nil && end != nil && end.Before(q.EndGTE.Time),
			q.EndLTE != nil && end != nil && end.After(q.EndLTE.Time):
			continue
		}
		list = append(list, ev)
	}
	slices.SortFunc(list, func(a, b vms.Event) int {
		c := cmp.Or(a.StartTimestamp.Compare(b.StartTimestamp.Time), cmp.Compare(a.ID, b.ID))
		if !q.Ascending {
			c = -c
		}
		return c
	})
	return list
}
