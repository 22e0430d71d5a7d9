package server

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"vmsbridge/uplink/vms"
)

// getEvent is GET /events/{id}. The id holds ':' and '+', which clients send escaped, raw, or with the plus as a space.
func (s *Server) getEvent(c *call) error {
	a := parseArgs(c.r.URL.RawQuery, "include")
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
	return c.ok(withData([]vms.Event{ev}, include)[0])
}

// reportEvent is POST /events. The answer is the stored event with its id. Reporting the same start, actor and type
// again replaces it, which is how an ongoing span gets its end.
func (s *Server) reportEvent(c *call) error {
	if err := parseArgs(c.r.URL.RawQuery).err(); err != nil {
		return err
	}
	body, err := readJSON(c, maxBodyBytes)
	if err != nil {
		return err
	}
	ev, err := s.checkReport(c, body)
	if err != nil {
		return err
	}
	if err := s.put(ev); err != nil {
		return err
	}
	c.w.Header().Set("Location", vms.PathEvents+"/"+url.PathEscape(ev.ID))
	writeJSON(c.w, http.StatusCreated, ev)
	return nil
}

// checkReport reads a reported event, gives it its id, and says whether this caller may report it.
func (s *Server) checkReport(c *call, body []byte) (vms.Event, error) {
	ev, problems := vms.ParseEvent(body)
	if e := vms.BadRequest(problems); e != nil {
		return ev, e
	}
	for _, id := range []struct{ name, value string }{{"accountId", ev.AccountID}, {"actorAccountId", ev.ActorAccountID}} {
		if id.value != c.principal.AccountID {
			return ev, vms.NewError(http.StatusForbidden, vms.ReasonPermission,
				id.name+" is "+strconv.Quote(id.value)+", but this token reports for the account "+strconv.Quote(c.principal.AccountID))
		}
	}
	ev.ID = ev.NaturalID()
	return ev, s.checkActor(c.r.Context(), c, vms.Actor{Type: ev.ActorType, ID: ev.ActorID})
}

// put stores an event that is checked.
func (s *Server) put(ev vms.Event) error {
	err := s.opts.Events.Put(ev, s.opts.Report)
	if err == nil {
		return nil
	}
	var e *vms.Error
	if errors.As(err, &e) {
		return e
	}
	// It is not stored, so the client must keep it and come again: 503 says that better than 500.
	s.log.Error("a reported event could not be stored; its reporter will try again", "id", ev.ID, "error", err)
	return vms.NewError(http.StatusServiceUnavailable, vms.ReasonServiceUnavailable, "The event could not be stored; try again later")
}
