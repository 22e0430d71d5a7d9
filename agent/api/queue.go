package api

import (
	"errors"
	"net/http"

	"vmsbridge/agent/setup"
	"vmsbridge/storage/journal"
	"vmsbridge/uplink/identity"
)

// wayWords are what the page is told of an event's way to the service.
var wayWords = map[journal.Way]string{journal.Waiting: "waiting", journal.Refused: "refused",
	journal.Accepted: "accepted"}

// way is how far an event is on its way to the service.
type way struct {
	State  string `json:"state"`
	Reason string `json:"reason,omitempty"` // why the service refused it
}

// mostWays bounds how many events are asked about at once, and their ids in bytes.
const mostWays, waysBody = 500, 256 << 10

// queueRoutes are how the page shows which events the service has, and sends again what it refused.
func (a *API) queueRoutes(mux *http.ServeMux) {
	ids := func(r *http.Request) ([]string, error) {
		var w struct {
			IDs []string `json:"ids"`
		}
		if !oneObject(r, waysBody, &w) || len(w.IDs) > mostWays {
			return nil, &setup.Refusal{Reason: "The body must be one JSON object with ids, 500 at most."}
		}
		return w.IDs, nil
	}
	a.forAdministrators(mux, "POST /web/events:way", func(r *http.Request, _ identity.Principal) (any, error) {
		asked, err := ids(r)
		if err != nil {
			return nil, err
		}
		ways, reasons, err := a.opts.Archive.Journal.Ways(asked)
		out := map[string]way{}
		for id, w := range ways {
			out[id] = way{wayWords[w], reasons[id]}
		}
		return out, err
	})
	a.forAdministrators(mux, "POST /web/events:retry", func(r *http.Request, p identity.Principal) (any, error) {
		asked, err := ids(r)
		for _, id := range asked {
			err = a.opts.Archive.Journal.Retry(id)
			if errors.Is(err, journal.ErrNotFound) {
				err = &setup.Refusal{Reason: "This event is not among the refused ones any more."}
			}
			if err != nil {
				return nil, err
			}
			a.opts.Log.Info("a refused event was let wait again by the page", "event", id, "by", p.Holder)
		}
		return map[string]any{"ids": asked}, err
	})
}
