package server

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"vmsbridge/uplink/vms"
)

// listParams are the arguments of the event list.
var listParams = []string{"actor", "actor__in", "type__in", "startTimestamp__gte", "startTimestamp__lte",
	"endTimestamp__gte", "endTimestamp__lte", "include", "sort", "pageSize", "pageToken"}

// listEvents is GET /events. With a page token only include and pageSize of the request count; the
// token holds the rest.
func (s *Server) listEvents(c *call) error {
	a := c.args
	var q vms.Query
	var cursor *vms.Cursor
	if err := checkEvents(c); err != nil {
		return err
	}
	if token := a.one("pageToken"); token != "" {
		var t eventsToken
		if err := s.signer.open("events", c.principal.AccountID, token, &t); err != nil {
			a.bad("pageToken", err.Error())
		}
		q, cursor = t.Query, &t.Cursor
		q.Counted = t.Total
		if a.has("include") {
			q.Include = a.include()
		}
		q.PageSize = a.pageSize(q.PageSize)
	} else {
		q = listQuery(a)
	}
	if err := a.err(); err != nil {
		return err
	}
	for _, actor := range q.Actors {
		if err := s.checkActor(c.r.Context(), c, actor); err != nil {
			return err
		}
	}
	page, err := s.list(c, q, cursor)
	if err != nil {
		return err
	}
	q.Counted = &page.Total
	next, err := s.eventsToken(c, q, page.Next)
	if err != nil {
		return err
	}
	prev, err := s.eventsToken(c, q, page.Prev)
	if err != nil {
		return err
	}
	events, err := s.handedOut(c, page.Events, q.Include)
	if err != nil {
		return err
	}
	return c.ok(vms.MakePage(events, next, prev, page.Total))
}

func (s *Server) eventsToken(c *call, q vms.Query, at *vms.Cursor) (string, error) {
	if at == nil {
		return "", nil
	}
	return s.signer.sign("events", c.principal.AccountID, eventsToken{q, *at, q.Counted})
}

// nowTolerance is how far a client's now may be behind, by its clock and by the way of its request.
const nowTolerance = time.Minute

// listQuery reads the arguments of a first page.
func listQuery(a *args) vms.Query {
	q := vms.Query{
		Actors:   a.actors(),
		Types:    a.canonicalList("type__in"),
		StartGTE: a.lowerBound("startTimestamp__gte"),
		StartLTE: a.upperBound("startTimestamp__lte"),
		EndGTE:   a.lowerBound("endTimestamp__gte"),
		EndLTE:   a.upperBound("endTimestamp__lte"),
		Include:  a.include(),
		PageSize: a.pageSize(defaultPageSize),
	}
	// What goes on has not ended by a time that is past, and may end by one that is to come.
	now := time.Now()
	q.Open = q.EndLTE != nil && !q.EndLTE.Before(now.Add(-nowTolerance)) && (q.EndGTE == nil || !q.EndGTE.After(now))
	if !a.has("actor") && !a.has("actor__in") {
		a.miss("actor")
	}
	if !a.has("startTimestamp__gte") {
		a.miss("startTimestamp__gte")
	}
	if !a.has("startTimestamp__lte") && !a.has("endTimestamp__lte") {
		a.miss("startTimestamp__lte or endTimestamp__lte")
	}
	switch v := a.one("sort"); v {
	case "", "-startTimestamp":
	case "+startTimestamp", " startTimestamp", "startTimestamp": // an unescaped + arrives as a space
		q.Ascending = true
	default:
		a.bad("sort", "must be +startTimestamp or -startTimestamp")
	}
	return q
}

// listRecentByType is GET /events:listRecentByType: the newest event of each type asked for, newest
// first.
func (s *Server) listRecentByType(c *call) error {
	a := c.args
	actors, types, include := a.actors(), a.canonicalList("type__in"), a.include()
	if !a.has("actor") && !a.has("actor__in") {
		a.miss("actor")
	}
	if !a.has("type__in") {
		a.miss("type__in")
	}
	if err := errors.Join(a.err(), checkEvents(c)); err != nil {
		return err
	}
	for _, actor := range actors {
		if err := s.checkActor(c.r.Context(), c, actor); err != nil {
			return err
		}
	}
	var found []vms.Event
	for _, typ := range types {
		if _, known := vms.TypeByID(typ); !known {
			continue
		}
		page, err := s.list(c, vms.Query{Actors: actors, Types: []string{typ}, PageSize: 1}, nil)
		if err != nil {
			return err
		}
		found = append(found, page.Events...)
	}
	slices.SortStableFunc(found, func(x, y vms.Event) int { return y.StartTimestamp.Compare(x.StartTimestamp.Time) })
	found, err := s.handedOut(c, found, include)
	if err != nil {
		return err
	}
	return c.ok(vms.MakePage(found, "", "", len(found)))
}

// checkEvents is nil if the caller may see events at all.
func checkEvents(c *call) error {
	if c.principal.ViewsEvents() {
		return nil
	}
	return vms.NewError(http.StatusForbidden, vms.ReasonPermission,
		"This user may see neither previews nor recordings, and so no events")
}

// checkActor is nil if the caller may know of the actor. If not, the answer is the same whether it
// exists or not.
func (s *Server) checkActor(ctx context.Context, c *call, a vms.Actor) error {
	if c.principal.Sees(a) && s.within(c.principal, a) {
		its := c.principal.Find(a)
		has, err := s.opts.Cameras.HasActor(ctx, its.Account, its)
		if err != nil {
			return err
		}
		if has {
			return nil
		}
	}
	return noActor(a)
}

func noActor(a vms.Actor) error {
	return vms.NotFound(a.Type+"s", "The resource was not found: there is no "+a.Type+" "+a.ID, a.ID)
}

// handedOut are events as this caller gets them: with the data asked for, whose images are where
// the caller asks, signed if that is wanted.
func (s *Server) handedOut(c *call, events []vms.Event, include []string) ([]vms.Event, error) {
	base := s.here(c.r).String()
	whole := make([]vms.Event, len(events))
	for i, ev := range events {
		whole[i] = ev.WithOverlayImage()
	}
	out := withData(whole, include)
	for i := range out {
		out[i] = out[i].WithImagesAt(base)
	}
	return s.signAddresses(c, out, include)
}

// withData leaves in each event's data only the schemas asked for, and an array even if none is
// left. dataSchemas still names all that the event has. The events given are not changed.
func withData(events []vms.Event, include []string) []vms.Event {
	out := slices.Clone(events)
	for i := range out {
		data := []vms.Data{}
		for _, d := range out[i].Data {
			if slices.Contains(include, d.Type) {
				data = append(data, d)
			}
		}
		out[i].Data = data
		if out[i].DataSchemas == nil {
			out[i].DataSchemas = []string{}
		}
	}
	return out
}
