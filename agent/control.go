package agent

import (
	"encoding/json"
	"net/http"

	"vmsbridge/agent/control"
	"vmsbridge/agent/queue"
	"vmsbridge/uplink/server"
)

// control opens the door for root and the bridge's own user on this machine. Whoever comes through it may see everything, for
// nobody else can: see agent/control.
func (a *Agent) control() (*local, error) {
	l, err := control.Listen(a.cfg().Bridge.Data)
	if err != nil {
		return nil, err
	}
	return &local{l, server.NewHTTP(a.controlMux(), a.log)}, nil
}

// controlMux answers what is asked there.
func (a *Agent) controlMux() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, _ *http.Request) { answer(w, a.Status()) })
	mux.HandleFunc("POST /reload", func(w http.ResponseWriter, r *http.Request) {
		done, err := a.Reload(r.Context())
		if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		answer(w, done)
	})
	mux.Handle("GET /metrics", a.metrics())
	mux.Handle(queue.Path, queue.Handler(queue.Of(a.journal)))
	mux.Handle(queue.Path+"/", queue.Handler(queue.Of(a.journal)))
	return mux
}

// answer writes JSON.
func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(v)
}
