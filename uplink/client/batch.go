package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"vmsbridge/uplink/vms"
)

// maxBatchBytes bounds a request with many events, unpacked. The service takes more.
const maxBatchBytes = 1 << 20

// maxAtOnce bounds what a service can talk the bridge into.
const maxAtOnce = 1024

// AtOnce is how many events ReportMany may be given: 1, until a registration was answered by a
// service that takes more, and fewer than that while the link is too slow for them.
func (c *Client) AtOnce() int { return c.batch.size() }

// ReportMany hands several events to the service, in their order. The verdicts are of as many of
// them, from the first on, as the service judged: nil if it has the event, else a *RefusedError.
// err is the trouble with the one after those; nil if there was none, and it may simply be asked
// about next.
func (c *Client) ReportMany(ctx context.Context, events []vms.Event) (verdicts []error, err error) {
	if len(events) == 1 || c.AtOnce() == 1 {
		began := time.Now()
		err := c.Report(ctx, events[0])
		c.batch.learn(1, time.Since(began), c.timeout, err)
		return one(err)
	}
	body, n, err := c.reportBody(events)
	if err != nil || n < 2 {
		return one(c.Report(ctx, events[0]))
	}
	began := time.Now()
	a, err := c.call(ctx, http.MethodPost, vms.PathReportMany, body, maxReplyBytes)
	c.batch.learn(n, time.Since(began), c.timeout, err)
	var refused *vms.RefusedError
	switch {
	case errors.As(err, &refused):
		// Not about the events, whatever it says: only a request with one event alone tells of that
		// event.
		if Unsupported(err) {
			c.batch.most.Store(0)
		}
		return one(c.Report(ctx, events[0]))
	case err != nil:
		return nil, err
	}
	return readVerdicts(a, events[:n])
}

// one is the result of ReportMany for a single event.
func one(err error) ([]error, error) {
	if refused := (*vms.RefusedError)(nil); err == nil || errors.As(err, &refused) && !refused.UnknownActor() {
		return []error{err}, nil
	}
	return nil, err
}

// reportBody is the body for as many events as keep within maxBatchBytes, and how many these are.
func (c *Client) reportBody(events []vms.Event) (body []byte, n int, err error) {
	var many vms.ReportMany
	size := 0
	for _, ev := range events {
		ev.ID = c.name(ev)
		raw, err := json.Marshal(ev)
		if err != nil || size+len(raw) > maxBatchBytes {
			break // the first of the next request, where Report says what is wrong with it
		}
		size += len(raw)
		many.Events = append(many.Events, raw)
	}
	body, err = json.Marshal(many)
	return body, len(many.Events), err
}

// readVerdicts reads the answer to a request with these events.
func readVerdicts(a answer, events []vms.Event) ([]error, error) {
	strange := func(what string) error {
		return &vms.TransientError{Code: a.status,
			Err: fmt.Errorf("the answer is not the service's: %d with %s, %s; is there a portal in between?", a.status,
				describe(a), what)}
	}
	var many vms.ReportedMany
	if err := json.Unmarshal(a.body, &many); err != nil || len(many.Results) == 0 || len(many.Results) > len(events) {
		return nil, strange("which has no verdict on the events")
	}
	verdicts := make([]error, 0, len(many.Results))
	for i, r := range many.Results {
		if r.Error == nil {
			if !events[i].FitsID(r.ID) {
				return verdicts, strange("which is of other events")
			}
			verdicts = append(verdicts, nil)
			continue
		}
		err := verdictError(r.Error)
		if refused := (*vms.RefusedError)(nil); !errors.As(err, &refused) || refused.UnknownActor() {
			return verdicts, err
		}
		verdicts = append(verdicts, err)
	}
	return verdicts, nil
}

// verdictError is what an answer with that error alone would give.
func verdictError(e *vms.Error) error {
	body, err := json.Marshal(e)
	if err != nil {
		return &vms.TransientError{Code: e.Code, Err: err}
	}
	if verdict := classify("", answer{status: e.Code, header: http.Header{}, body: body}, nil); verdict != nil {
		return verdict
	}
	return &vms.TransientError{Code: e.Code, Own: true,
		Err: fmt.Errorf("the service answers an event with an error of code %d", e.Code)}
}
