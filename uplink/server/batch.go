package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"vmsbridge/uplink/vms"
)

// BatchStore is an EventStore that stores many events at the cost of one. If Options.Events is one, and there are
// Options.Bridges, bridges are told that they may report so.
type BatchStore interface {
	// PutAll does for all events in their order what Put does for each: all are stored, or none is.
	PutAll(events []vms.Event, report bool) error
}

// Limits of a request with many events. Each event must keep within maxBodyBytes too.
const (
	reportAtOnce   = 512
	maxBatchBytes  = 4 << 20
	maxBatchEvents = 2 * reportAtOnce
)

// reportEvents is POST /events:report, which is not part of the public interface. Each event gets the verdict that
// POST /events would give; the answer ends after the first that may be taken later.
func (s *Server) reportEvents(c *call) error {
	if err := parseArgs(c.r.URL.RawQuery).err(); err != nil {
		return err
	}
	body, err := readJSON(c, maxBatchBytes)
	if err != nil {
		return err
	}
	var many vms.ReportMany
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&many); err != nil {
		return vms.NewError(http.StatusBadRequest, vms.ReasonJSON, "Invalid JSON: the body must be an object with a list of events")
	}
	if len(many.Events) > maxBatchEvents {
		return vms.NewError(http.StatusRequestEntityTooLarge, vms.ReasonTooLarge, fmt.Sprintf("More than %d events", maxBatchEvents))
	}
	results := make([]vms.Reported, 0, len(many.Events))
	var good []vms.Event
	for _, raw := range many.Events {
		ev, err := s.judge(c, raw)
		if err == nil {
			good = append(good, ev)
			results = append(results, vms.Reported{ID: ev.ID})
			continue
		}
		refusal := s.refusal(err)
		results = append(results, vms.Reported{Error: refusal})
		if !forGood(refusal) {
			break
		}
	}
	if err := s.opts.Events.(BatchStore).PutAll(good, s.opts.Report); err != nil {
		results = s.putEach(good, results)
	}
	return c.ok(vms.ReportedMany{Results: results})
}

// putEach stores events one by one after they could not be stored together, and cuts the results where one cannot.
func (s *Server) putEach(good []vms.Event, results []vms.Reported) []vms.Reported {
	next := 0
	for i := range results {
		if results[i].Error != nil {
			continue
		}
		err := s.put(good[next])
		next++
		if err == nil {
			continue
		}
		results[i] = vms.Reported{Error: s.refusal(err)}
		if !forGood(results[i].Error) {
			return results[:i+1]
		}
	}
	return results
}

// judge reads an event and says whether this caller may report it.
func (s *Server) judge(c *call, body []byte) (vms.Event, error) {
	if len(body) > maxBodyBytes {
		return vms.Event{}, vms.NewError(http.StatusRequestEntityTooLarge, vms.ReasonTooLarge, "The event is larger than 512 KiB")
	}
	return s.checkReport(c, body)
}

// refusal is the error body of err. What is no *vms.Error is logged, and its text stays here.
func (s *Server) refusal(err error) *vms.Error {
	var e *vms.Error
	if errors.As(err, &e) {
		return e
	}
	s.log.Error("an event could not be judged", "error", err)
	return vms.NewError(http.StatusInternalServerError, vms.ReasonUnexpectedError, "The server could not answer; its log says why")
}

// forGood says whether an event will never be taken as it is.
func forGood(e *vms.Error) bool {
	switch e.Code {
	case http.StatusBadRequest, http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return true
	}
	return false // also 404: the actor may be registered in a moment
}
