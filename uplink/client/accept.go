package client

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"strings"

	"vmsbridge/uplink/vms"
)

// acceptance is nil if a 2xx on the report of an event says that the service has it. The interface
// does not show what that answer holds, so it need not be the stored event; but it must be one that
// a service gives, and what stands between does not:
//
//   - JSON: the event, something about it, or a word such as {"status":"ok"}. It must not name
//     another event, nor be an error.
//   - nothing, with 201, 202 or 204; with 201 or 202 also a plain text. A 200 with nothing or with
//     a text is anyone's.
//
// All else, above all a page, is a portal or a proxy.
func acceptance(a answer, ev vms.Event) error {
	body := bytes.TrimSpace(a.body)
	made := a.status == http.StatusCreated || a.status == http.StatusAccepted
	media, _, _ := mime.ParseMediaType(a.header.Get("Content-Type"))
	switch {
	case len(body) == 0 && (made || a.status == http.StatusNoContent):
		return nil
	case json.Valid(body):
		return spokenOf(a, body, ev)
	case made && media == "text/plain" && !bytes.HasPrefix(body, []byte("<")) && !bytes.HasPrefix(body, []byte("{")):
		return nil
	}
	return &vms.TransientError{Code: a.status,
		Err: fmt.Errorf("the answer is not the service's: %d with %s instead of the stored event; is there a portal "+
			"in between?", a.status, describe(a))}
}

// spokenOf judges a JSON answer to the report of an event.
func spokenOf(a answer, body []byte, ev vms.Event) error {
	var fields map[string]json.RawMessage
	if json.Unmarshal(body, &fields) != nil {
		return nil // a word or a list
	}
	if trouble(fields) {
		message, _, _ := verdict(body)
		return &vms.TransientError{Code: a.status, Own: true,
			Err: fmt.Errorf("the service answers %d, but with an error: %s", a.status, message)}
	}
	var said struct {
		typ, actor string
		start      vms.Time
	}
	// What is of another kind than in the interface, such as a number for a time, says nothing
	// against the event.
	if json.Unmarshal(fields["type"], &said.typ) != nil || !strings.Contains(said.typ, "Event.") {
		said.typ = ev.Type
	}
	if json.Unmarshal(fields["actorId"], &said.actor) != nil || said.actor == "" {
		said.actor = ev.ActorID
	}
	if json.Unmarshal(fields["startTimestamp"], &said.start) != nil || said.start.IsZero() {
		said.start = ev.StartTimestamp
	}
	got := vms.Event{Type: vms.Canonical(said.typ), ActorID: said.actor, StartTimestamp: said.start}.NaturalID()
	if want := ev.NaturalID(); got != want {
		return &vms.TransientError{Code: a.status, Own: true,
			Err: fmt.Errorf("the service answers with another event, %.200q instead of %q", got, want)}
	}
	return nil
}

// trouble says whether a JSON object that came with a 2xx is an error all the same.
func trouble(fields map[string]json.RawMessage) bool {
	for _, name := range []string{"error", "errors"} {
		switch string(fields[name]) {
		case "", "null", "false", `""`, "[]", "{}":
		default:
			return true
		}
	}
	for _, name := range []string{"success", "ok"} {
		if string(fields[name]) == "false" {
			return true
		}
	}
	var code float64
	return json.Unmarshal(fields["code"], &code) == nil && code >= 400
}

// spoken says whether an answer is a service's, from its form: JSON, an image, or nothing.
func spoken(a answer) bool {
	media, _, _ := mime.ParseMediaType(a.header.Get("Content-Type"))
	return len(a.body) == 0 || media == "image/jpeg" || bytes.HasPrefix(bytes.TrimSpace(a.body), []byte("{"))
}
