package server

import (
	"bytes"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/vms"
)

// Stores know an actor by its account and the id that it has there, callers by the id of
// identity.Principal.Find and Called. Those differ only for a shared camera whose id is somebody
// else's too.

// list asks the store for a page of what the caller may see.
func (s *Server) list(c *call, q vms.Query, at *vms.Cursor) (vms.Page, error) {
	q.Actors = slices.Clone(q.Actors)
	for i, a := range q.Actors {
		q.Actors[i] = c.principal.Find(a)
	}
	q.Stop = c.r.Context().Err
	page, err := s.opts.Events.List(q, at)
	for i, ev := range page.Events {
		page.Events[i] = called(c.principal, ev)
	}
	return page, err
}

// find asks the store for the event that the caller knows under an id.
func (s *Server) find(c *call, id string) (vms.Event, error) {
	its := vms.Actor{Account: c.principal.AccountID}
	if at := startInID.FindStringIndex(id); at != nil {
		a := vms.Actor{Type: vms.ActorCamera, ID: id[:at[0]]}
		its = c.principal.Find(a)
		id = its.ID + id[len(a.ID):]
	}
	ev, err := s.opts.Events.Get(its.Account, id)
	return called(c.principal, ev), err
}

// startInID is where the start stands in the id of an event, behind the id of its actor.
var startInID = regexp.MustCompile(`-\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d\d:\d\d-`)

// called is an event of a store as a caller knows it: under the caller's id for its actor, and so
// are the addresses of its images.
func called(p identity.Principal, ev vms.Event) vms.Event {
	id := p.Called(ev.ActorAccountID, vms.Actor{Type: ev.ActorType, ID: ev.ActorID})
	if id == ev.ActorID {
		return ev
	}
	ev.Data = slices.Clone(ev.Data)
	for i, d := range ev.Data {
		raw, err := d.MarshalJSON()
		if err != nil {
			continue
		}
		for _, and := range []string{"&", `\u0026`, `"`} { // what ends the argument in the address, in JSON
			raw = bytes.ReplaceAll(raw, []byte("deviceId="+url.QueryEscape(ev.ActorID)+and),
				[]byte("deviceId="+url.QueryEscape(id)+and))
		}
		_ = json.Unmarshal(raw, &ev.Data[i]) // it is what it was otherwise
	}
	ev.ID, ev.ActorID = id+ev.ID[len(ev.ActorID):], id
	return ev
}
