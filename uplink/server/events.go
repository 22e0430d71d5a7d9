package server

import (
	"errors"
	"strings"

	"vmsbridge/uplink/vms"
)

// getEvent is GET /events/{id}. The id holds ':' and '+', which clients send escaped, raw, or with
// the plus as a space.
func (s *Server) getEvent(c *call) error {
	a := c.args
	include := a.include()
	if err := errors.Join(a.err(), checkEvents(c)); err != nil {
		return err
	}
	id := strings.ReplaceAll(c.r.PathValue("id"), " ", "+")
	ev, err := s.find(c, id)
	switch {
	case s.opts.NotFound != nil && errors.Is(err, s.opts.NotFound):
		return vms.NotFound("events", "", id)
	case err != nil:
		return err
	}
	if err := s.checkActor(c.r.Context(), c, vms.Actor{Type: ev.ActorType, ID: ev.ActorID}); err != nil {
		return vms.NotFound("events", "", id)
	}
	events, err := s.handedOut(c, []vms.Event{ev}, include)
	if err != nil {
		return err
	}
	return c.ok(events[0])
}
