package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"

	"vmsbridge/uplink/vms"
)

// maxMoment bounds how many events of one actor, type and millisecond are looked at for the one
// that a report is of.
const maxMoment = 500

// place gives a reported event its id, and refuses it where another's event stands. The first event
// of an actor, a type and a start has the natural id. A later report by its owner replaces it if it
// is of the same (isAgain), else it has a suffix. Who says the id in the report means that very
// event. The caller has the turn of the natural id. uplink/README.md says the rule for programmers.
func (s *Server) place(ev vms.Event) (vms.Event, error) {
	if ev.ID != "" {
		_, err := s.ownAt(ev)
		return ev, err
	}
	ev.ID = ev.NaturalID()
	first, err := s.ownAt(ev)
	if err != nil || first == nil || isAgain(*first, ev) {
		return ev, err
	}
	start := ev.StartTimestamp
	page, err := s.opts.Events.List(
		vms.Query{Actors: []vms.Actor{{Type: ev.ActorType, ID: ev.ActorID, Account: ev.ActorAccountID}},
			Types:    []string{ev.Type},
			StartGTE: &start, StartLTE: &start, PageSize: maxMoment}, nil)
	if err != nil {
		return ev, err
	}
	for _, old := range page.Events {
		if s.ownerOf(old) == ev.Owner && old.FitsID(old.ID) && isAgain(old, ev) {
			ev.ID = old.ID
			return ev, nil
		}
	}
	ev.ID = ev.SuffixedID(append([]string{ev.CreatorID}, distinct(ev)...)...)
	_, err = s.ownAt(ev)
	return ev, err
}

// ownAt is what is stored under the id of a report, nil for nothing, and a refusal if it is
// another's.
func (s *Server) ownAt(ev vms.Event) (*vms.Event, error) {
	old, err := s.opts.Events.Get(ev.ActorAccountID, ev.ID)
	if err != nil {
		if s.opts.NotFound != nil && errors.Is(err, s.opts.NotFound) {
			err = nil
		}
		return nil, err
	}
	owner := s.ownerOf(old)
	if owner == vms.OwnerSelf && ofHealth(ev) && isBridge(ev.Owner) {
		// the service said how the camera is while its bridge was away: the store makes the two
		// spans meet
		return &old, nil
	}
	if owner != "" && owner != ev.Owner {
		return nil, owned(ev)
	}
	return &old, nil
}

// isAgain says whether a report is of the same as a stored event of its owner, actor, type and
// start. Two creators never mean the same. A bridge's own spans are told apart by their start
// alone. Else the objects tell: it is the same if they share one. Where one side names none, it is
// the same as long as the stored one goes on, and then if nothing but its end differs.
func isAgain(old, ev vms.Event) bool {
	if old.CreatorID != ev.CreatorID {
		return false
	}
	if isBridge(ev.Owner) && (ev.CreatorID == vms.CreatorMotion || ev.CreatorID == vms.CreatorHealth) {
		return true
	}
	before, now := objects(old), objects(ev)
	if len(before) > 0 && len(now) > 0 {
		return slices.ContainsFunc(now, func(id string) bool { return slices.Contains(before, id) })
	}
	return old.Ongoing() || ev.Ongoing() || slices.Equal(distinct(old), distinct(ev))
}

// objects are the ids of the objects that an event is of, in order, each once.
func objects(ev vms.Event) (ids []string) {
	for _, d := range ev.Data {
		var item struct {
			ObjectID string `json:"objectId"`
		}
		if d.Into(&item) == nil && item.ObjectID != "" {
			ids = append(ids, item.ObjectID)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// distinct is what tells an event from others of its creator, actor, type and start: its objects,
// else its data.
func distinct(ev vms.Event) []string {
	if ids := objects(ev); len(ids) > 0 {
		return ids
	}
	var out []string
	for _, d := range ev.Data {
		var fields any
		if raw, err := json.Marshal(d); err == nil {
			dec := json.NewDecoder(bytes.NewReader(raw))
			dec.UseNumber()
			if dec.Decode(&fields) == nil {
				raw, _ = json.Marshal(fields) // the fields in the order of their names
			}
			out = append(out, string(raw))
		}
	}
	return out
}
