package outbound

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
)

// QueuePath is what QueueHandler answers below: GET /queue?limit=N, GET /queue/event?id=ID, POST
// /queue/retry and /queue/drop with a Which, POST /queue/resend with a When.
const QueuePath = "/queue"

// mostListed bounds an answer.
const mostListed = 100_000

// outcome is what became of a Retry, a Drop or a Resend.
type outcome struct {
	Done    []string `json:"done,omitempty"`
	Events  int      `json:"events,omitempty"`  // of a Resend
	Problem string   `json:"problem,omitempty"` // why it went no further
	Unknown bool     `json:"unknown,omitempty"` // which is an ErrUnknown
}

// QueueHandler answers AskQueue. Who may ask is for the caller to know.
func QueueHandler(q Queue) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+QueuePath, func(w http.ResponseWriter, r *http.Request) {
		limit, err := strconv.Atoi(r.FormValue("limit"))
		if err != nil || limit < 0 {
			http.Error(w, "limit must be a number", http.StatusBadRequest)
			return
		}
		l, err := q.List(r.Context(), min(limit, mostListed))
		answer(w, l, err)
	})
	mux.HandleFunc("GET "+QueuePath+"/event", func(w http.ResponseWriter, r *http.Request) {
		ev, err := q.Show(r.Context(), r.FormValue("id"))
		answer(w, ev, err)
	})
	change := func(path string, do func(context.Context, Which) ([]string, error)) {
		mux.HandleFunc("POST "+QueuePath+path, func(w http.ResponseWriter, r *http.Request) {
			var which Which
			if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 64<<20)).Decode(&which); err != nil {
				http.Error(w, "read which events are meant: "+err.Error(), http.StatusBadRequest)
				return
			}
			done, err := do(r.Context(), which)
			o := outcome{Done: done, Unknown: errors.Is(err, ErrUnknown)}
			if err != nil {
				o.Problem = err.Error()
			}
			answer(w, o, nil)
		})
	}
	change("/retry", q.Retry)
	change("/drop", q.Drop)
	mux.HandleFunc("POST "+QueuePath+"/resend", func(w http.ResponseWriter, r *http.Request) {
		var when When
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<10)).Decode(&when); err != nil {
			http.Error(w, "read which time is meant: "+err.Error(), http.StatusBadRequest)
			return
		}
		n, err := q.Resend(r.Context(), when)
		o := outcome{Events: n}
		if err != nil {
			o.Problem = err.Error()
		}
		answer(w, o, nil)
	})
	return mux
}

func answer(w http.ResponseWriter, v any, err error) {
	switch {
	case errors.Is(err, ErrUnknown):
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	case err != nil:
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(v)
}
