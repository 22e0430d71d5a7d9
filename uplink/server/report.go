package server

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"vmsbridge/uplink/vms"
)

// reportEvent is POST /events. The answer is the stored event with its id. Its reporter's next
// report of the same natural id replaces it, which is how an ongoing span gets its end, unless that
// is of something else: see place.
func (s *Server) reportEvent(c *call) error {
	body, err := readJSON(c, maxBodyBytes)
	if err != nil {
		return err
	}
	ev, err := s.checkReport(c, body)
	if err != nil {
		return err
	}
	defer s.turns.Take([]string{ev.NaturalID()}, nil)()
	if ev, err = s.place(ev); err != nil {
		return s.notStored(ev, err)
	}
	if err := s.put(ev); err != nil {
		return err
	}
	c.w.Header().Set("Location", vms.PathEvents+"/"+url.PathEscape(ev.ID))
	writeJSON(c.w, http.StatusCreated, ev)
	return nil
}

// checkReport reads a reported event, says whether this caller may report it, and whose it is.
func (s *Server) checkReport(c *call, body []byte) (vms.Event, error) {
	ev, problems := vms.ParseEvent(body)
	if e := vms.BadRequest(problems); e != nil {
		return ev, e
	}
	for _, id := range []struct{ name, value string }{{"accountId", ev.AccountID},
		{"actorAccountId", ev.ActorAccountID}} {
		if id.value != c.principal.AccountID {
			return ev, vms.NewError(http.StatusForbidden, vms.ReasonPermission,
				id.name+" is "+strconv.Quote(id.value)+", but this token reports for the account "+strconv.Quote(
					c.principal.AccountID))
		}
	}
	if err := s.checkReporter(c, vms.Actor{Type: ev.ActorType, ID: ev.ActorID}); err != nil {
		return ev, err
	}
	ev.Owner = s.owner(c, vms.Actor{Type: ev.ActorType, ID: ev.ActorID})
	if ofHealth(ev) && !isBridge(ev.Owner) {
		return ev,
			vms.NewError(http.StatusForbidden, vms.ReasonPermission, "The status of a device by "+vms.CreatorHealth+
				" comes only from the bridge that has it, or from this server itself; report it with a creatorId of "+
				"your own")
	}
	return ev, nil
}

// ofHealth says whether an event tells how a device is, by who knows that.
func ofHealth(ev vms.Event) bool {
	return ev.Type == vms.TypeDeviceStatus && ev.CreatorID == vms.CreatorHealth
}

// put stores an event that is checked.
func (s *Server) put(ev vms.Event) error {
	err := s.opts.Events.Put(ev, s.opts.Report)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, vms.ErrOwned):
		return owned(ev)
	}
	return s.notStored(ev, err)
}

// notStored is what a reporter is told because of err.
func (s *Server) notStored(ev vms.Event, err error) error {
	var e *vms.Error
	if errors.As(err, &e) {
		return e
	}
	// It is not stored, so the client must keep it and come again: 503 says that better than 500.
	s.log.Error("a reported event could not be stored; its reporter will try again", "id", ev.ID, "error", err)
	return vms.NewError(http.StatusServiceUnavailable, vms.ReasonServiceUnavailable,
		"The event could not be stored; try again later")
}
