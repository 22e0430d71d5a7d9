package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"vmsbridge/uplink/vms"
)

// BatchStore is an EventStore that stores many events at the cost of one. If Options.Events is one,
// and there are Options.Bridges, bridges are told that they may report so.
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

// reportEvents is POST /events:report, which is not part of the public interface. Each event gets
// the verdict that POST /events would give; the answer ends after the first that may be taken
// later.
func (s *Server) reportEvents(c *call) error {
	body, err := readJSON(c, maxBatchBytes)
	if err != nil {
		return err
	}
	var many vms.ReportMany
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&many); err != nil {
		return vms.NewError(http.StatusBadRequest, vms.ReasonJSON,
			"Invalid JSON: the body must be an object with a list of events")
	}
	if len(many.Events) > maxBatchEvents {
		return vms.NewError(http.StatusRequestEntityTooLarge, vms.ReasonTooLarge,
			fmt.Sprintf("More than %d events", maxBatchEvents))
	}
	var all batch
	var naturals []string
	for _, raw := range many.Events {
		ev, err := s.judge(c, raw)
		all.add(ev, s.refusal(err))
		if err == nil {
			naturals = append(naturals, ev.NaturalID())
		} else if !forGood(all.results[len(all.results)-1].Error) {
			break
		}
	}
	leave := s.turns.Take(naturals, nil)
	defer leave()
	s.store(&all)
	return c.ok(vms.ReportedMany{Results: append([]vms.Reported{}, all.results...)})
}

// batch is what was reported at once, with the verdicts.
type batch struct {
	events  []vms.Event
	results []vms.Reported
}

func (b *batch) add(ev vms.Event, refusal *vms.Error) {
	r := vms.Reported{Error: refusal}
	if refusal == nil {
		// The reporter's name for it: the one that it said, else the natural one.
		if r.ID = ev.ID; r.ID == "" {
			r.ID = ev.NaturalID()
		}
	}
	b.events, b.results = append(b.events, ev), append(b.results, r)
}

// store places and stores what is not refused, as much as it can at once: what began in one moment
// is placed one after the other.
func (s *Server) store(b *batch) {
	var waiting []int
	moments := map[string]bool{}
	flush := func() (ok bool) {
		ok = s.putSome(b, waiting)
		waiting, moments = nil, map[string]bool{}
		return ok
	}
	for i := range b.results {
		if b.results[i].Error != nil {
			continue
		}
		natural := b.events[i].NaturalID()
		if moments[natural] && !flush() {
			return
		}
		ev, err := s.place(b.events[i])
		if err != nil {
			b.results[i] = vms.Reported{Error: s.refusal(s.notStored(ev, err))}
			if !forGood(b.results[i].Error) {
				b.results = b.results[:i+1]
				break
			}
			continue
		}
		b.events[i], moments[natural] = ev, true
		waiting = append(waiting, i)
	}
	flush()
}

// putSome stores events of a batch, together or else one by one, and cuts the results where one
// cannot be stored now.
func (s *Server) putSome(b *batch, which []int) (ok bool) {
	together := make([]vms.Event, len(which))
	for n, i := range which {
		together[n] = b.events[i]
	}
	if len(which) == 0 || s.opts.Events.(BatchStore).PutAll(together, s.opts.Report) == nil {
		return true
	}
	for _, i := range which {
		err := s.put(b.events[i])
		if err == nil {
			continue
		}
		b.results[i] = vms.Reported{Error: s.refusal(err)}
		if !forGood(b.results[i].Error) {
			b.results = b.results[:i+1]
			return false
		}
	}
	return true
}

// judge reads an event and says whether this caller may report it.
func (s *Server) judge(c *call, body []byte) (vms.Event, error) {
	if len(body) > maxBodyBytes {
		return vms.Event{}, vms.NewError(http.StatusRequestEntityTooLarge, vms.ReasonTooLarge,
			"The event is larger than 512 KiB")
	}
	return s.checkReport(c, body)
}

// refusal is the error body of err, nil for none. What is no *vms.Error is logged, and its text
// stays here.
func (s *Server) refusal(err error) *vms.Error {
	if err == nil {
		return nil
	}
	var e *vms.Error
	if errors.As(err, &e) {
		return e
	}
	s.log.Error("an event could not be judged", "error", err)
	return vms.NewError(http.StatusInternalServerError, vms.ReasonUnexpectedError,
		"The server could not answer; its log says why")
}

// forGood says whether an event will never be taken as it is.
func forGood(e *vms.Error) bool {
	switch e.Code {
	case http.StatusBadRequest, http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return true
	}
	return false // also 404: the actor may be registered in a moment
}
