package server

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"vmsbridge/uplink/vms"
)

// maxBodyBytes bounds what a client may send; a scene with a hundred objects takes some 60 kB. The journal's own bound
// lies above it.
const maxBodyBytes = 512 << 10

// getEvent is GET /events/{id}. The id holds ':' and '+', which clients send escaped, raw, or with the plus as a space.
func (s *Server) getEvent(c *call) error {
	a := parseArgs(c.r.URL.RawQuery, "include")
	include := a.include()
	if err := errors.Join(a.err(), checkEvents(c)); err != nil {
		return err
	}
	id := strings.ReplaceAll(c.r.PathValue("id"), " ", "+")
	ev, err := s.opts.Events.Get(id)
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
	body, err := readJSON(c)
	if err != nil {
		return err
	}
	ev, problems := vms.ParseEvent(body)
	if e := vms.BadRequest(problems); e != nil {
		return e
	}
	for _, id := range []struct{ name, value string }{{"accountId", ev.AccountID}, {"actorAccountId", ev.ActorAccountID}} {
		if id.value != c.principal.AccountID {
			return vms.NewError(http.StatusForbidden, vms.ReasonPermission,
				id.name+" is "+strconv.Quote(id.value)+", but this token reports for the account "+strconv.Quote(c.principal.AccountID))
		}
	}
	if err := s.checkActor(c.r.Context(), c, vms.Actor{Type: ev.ActorType, ID: ev.ActorID}); err != nil {
		return err
	}
	ev.ID = ev.NaturalID()
	if err := s.opts.Events.Put(ev, s.opts.Report); err != nil {
		var e *vms.Error
		if errors.As(err, &e) {
			return e
		}
		// It is not stored, so the client must keep it and come again: 503 says that better than 500.
		s.log.Error("a reported event could not be stored; its reporter will try again", "id", ev.ID, "error", err)
		return vms.NewError(http.StatusServiceUnavailable, vms.ReasonServiceUnavailable, "The event could not be stored; try again later")
	}
	c.w.Header().Set("Location", vms.PathEvents+"/"+url.PathEscape(ev.ID))
	writeJSON(c.w, http.StatusCreated, ev)
	return nil
}

// readJSON reads the body of a request whose content type is JSON or not said.
func readJSON(c *call) ([]byte, error) {
	if ct := c.r.Header.Get("Content-Type"); ct != "" {
		if media, _, err := mime.ParseMediaType(ct); err != nil || media != "application/json" {
			return nil, vms.NewError(http.StatusUnsupportedMediaType, vms.ReasonContent,
				"Unsupported content type: `"+ct+"`, should be one of: `application/json`")
		}
	}
	body, err := io.ReadAll(http.MaxBytesReader(c.w, c.r.Body, maxBodyBytes))
	var tooBig *http.MaxBytesError
	switch {
	case errors.As(err, &tooBig):
		return nil, vms.NewError(http.StatusRequestEntityTooLarge, vms.ReasonTooLarge, "The body is larger than 512 KiB")
	case err != nil:
		return nil, vms.NewError(http.StatusBadRequest, vms.ReasonJSON, "The body could not be read to its end")
	}
	return body, nil
}
