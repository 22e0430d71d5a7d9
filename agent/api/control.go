package api

import (
	"encoding/json"
	"net/http"

	"vmsbridge/agent/control"
	"vmsbridge/uplink/server"
)

// listenLocal opens the socket for root and the bridge's own user on this machine. Whoever asks
// there may see everything, for nobody else can: see agent/control.
func (a *API) listenLocal() error {
	l, err := control.Listen(a.opts.Config().Bridge.Data)
	if err != nil {
		return err
	}
	a.socket, a.local = l, server.NewHTTP(a.localMux(), a.opts.Log)
	return nil
}

// localMux answers the requests of that socket.
func (a *API) localMux() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, _ *http.Request) { answer(w, a.opts.Status()) })
	mux.HandleFunc("POST /reload", func(w http.ResponseWriter, r *http.Request) {
		done, err := a.opts.Reload(r.Context())
		if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		answer(w, done)
	})
	mux.HandleFunc("POST /arm", func(w http.ResponseWriter, r *http.Request) {
		list, err := armed(r, a.opts.Arming, "the command line")
		if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		answer(w, list)
	})
	// To look at events and stills, with the token that is the service's for that.
	mux.HandleFunc("GET /api/", func(w http.ResponseWriter, r *http.Request) {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+a.opts.Visitor)
		a.v3.ServeHTTP(w, r)
	})
	mux.Handle("GET /metrics", a.metrics())
	mux.Handle(a.opts.QueuePath, a.opts.Queue)
	mux.Handle(a.opts.QueuePath+"/", a.opts.Queue)
	return mux
}

// answer writes JSON.
func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(v)
}
