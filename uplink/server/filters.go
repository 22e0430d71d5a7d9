package server

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"vmsbridge/uplink/vms"
)

// filter is a part of a subscription: events of any of the actors and of any of the types, where
// either is given.
type filter struct {
	ID     string      `json:"id"`
	Actors []string    `json:"actors"`
	Types  []eventKind `json:"types"`
}

type eventKind struct {
	ID string `json:"id"`
}

// UnmarshalJSON takes the id alone as well.
func (k *eventKind) UnmarshalJSON(b []byte) error {
	if json.Unmarshal(b, &k.ID) == nil {
		return nil
	}
	type plain eventKind
	return json.Unmarshal(b, (*plain)(k))
}

// lets says whether an event passes.
func (f filter) lets(actor, kind string) bool {
	return (len(f.Actors) == 0 || slices.Contains(f.Actors, actor)) &&
		(len(f.Types) == 0 || slices.Contains(f.Types, eventKind{kind}))
}

// checkFilters looks at what a caller wants to follow, gives each filter an id and its types the
// names that events have.
func (s *Server) checkFilters(c *call, list []filter) error {
	items := 0
	for i, f := range list {
		items += len(f.Actors) + len(f.Types) + 1
		for _, text := range f.Actors {
			kind, id, ok := strings.Cut(text, ":")
			if !ok || !vms.ValidID(id) {
				return vms.BadRequest(
					[]vms.Problem{{Argument: "filters.actors", Reason: vms.ReasonValue, Text: "must each be TYPE:ID"}})
			}
			if err := s.checkActor(c.r.Context(), c, vms.Actor{Type: kind, ID: id}); err != nil {
				return err
			}
		}
		for j, kind := range f.Types {
			if kind.ID == "" {
				return vms.BadRequest(
					[]vms.Problem{{Argument: "filters.types", Reason: vms.ReasonValue, Text: "must each have an id"}})
			}
			f.Types[j].ID = vms.Canonical(kind.ID)
		}
		list[i].ID = rand.Text()
		list[i].Actors, list[i].Types = orEmpty(f.Actors), orEmpty(f.Types)
	}
	return enough(items)
}

// enough bounds what a subscription holds: each filter, and each actor and type in it, counts one.
func enough(items int) error {
	if items > maxFilterItems {
		return vms.BadRequest(
			[]vms.Problem{{Argument: "filters", Reason: vms.ReasonValue,
				Text: fmt.Sprintf("must be %d in all at most", maxFilterItems)}})
	}
	return nil
}

func items(list []filter) (n int) {
	for _, f := range list {
		n += len(f.Actors) + len(f.Types) + 1
	}
	return n
}

// orEmpty lets a list be [] in JSON.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// listFilters is GET /eventSubscriptions/{id}/filters.
func (s *Server) listFilters(c *call) error {
	sub, err := s.subs.own(c, func(*subscription) {})
	if err != nil {
		return err
	}
	a := c.args
	page, _, err := pageOf(s, c, a, "filters "+sub.ID, sub.Filters)
	if err != nil {
		return err
	}
	return c.ok(page)
}

// addFilter is POST /eventSubscriptions/{id}/filters. Streams of the subscription go by it from
// their next event on.
func (s *Server) addFilter(c *call) error {
	if _, err := s.subs.own(c, func(*subscription) {}); err != nil {
		return err
	}
	body, err := readJSON(c, maxBodyBytes)
	if err != nil {
		return err
	}
	list := make([]filter, 1)
	if err := json.Unmarshal(body, &list[0]); err != nil {
		return vms.BadRequest([]vms.Problem{{Argument: "body", Reason: vms.ReasonJSON, Text: "is not a filter"}})
	}
	if err := s.checkFilters(c, list); err != nil {
		return err
	}
	var full error
	if _, err := s.subs.own(c, func(sub *subscription) {
		if full = enough(items(sub.Filters) + items(list)); full == nil {
			sub.Filters = append(slices.Clip(sub.Filters), list...) // others hold the old one
		}
	}); err != nil || full != nil {
		return cmp.Or(err, full)
	}
	if err := s.subs.keep(c.principal.AccountID, c.r.PathValue("id")); err != nil {
		return err
	}
	c.w.Header().Set("Location", c.r.URL.Path+"/"+list[0].ID)
	writeJSON(c.w, http.StatusCreated, list[0])
	return nil
}

// getFilter is GET /eventSubscriptions/{id}/filters/{filter}.
func (s *Server) getFilter(c *call) error {
	sub, err := s.subs.own(c, func(*subscription) {})
	if err != nil {
		return err
	}
	i, err := sub.filter(c.r.PathValue("filter"))
	if err != nil {
		return err
	}
	return c.ok(sub.Filters[i])
}

// removeFilter is DELETE of the same. A subscription without filters hears nothing.
func (s *Server) removeFilter(c *call) error {
	var none error
	if _, err := s.subs.own(c, func(sub *subscription) {
		var i int
		if i, none = sub.filter(c.r.PathValue("filter")); none == nil {
			sub.Filters = slices.Delete(slices.Clone(sub.Filters), i, i+1)
		}
	}); err != nil || none != nil {
		return cmp.Or(err, none)
	}
	if err := s.subs.keep(c.principal.AccountID, c.r.PathValue("id")); err != nil {
		return err
	}
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}

// filter is where the filter of an id is.
func (sub *subscription) filter(id string) (int, error) {
	if i := slices.IndexFunc(sub.Filters, func(f filter) bool { return f.ID == id }); i >= 0 {
		return i, nil
	}
	return 0, vms.NotFound("filters", "", id)
}
