package api

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"vmsbridge/agent/control"
	"vmsbridge/storage/vfs"
)

// socketEvery is how often the control socket is tried again: a folder without room for it must not
// keep the bridge from recording.
const socketEvery = 5 * time.Second

// listenLocal opens the socket for root and the bridge's own user on this machine. Whoever asks
// there may see everything, for nobody else can: see agent/control.
func (a *API) listenLocal() {
	l, err := control.Listen(a.opts.Config().Bridge.Data)
	if err == nil {
		a.socket = l
		return
	}
	if !a.told {
		a.told = true
		a.opts.Log.Error("vmsbridge status and other commands cannot ask this bridge; it is tried again", "error", err,
			"hint", vfs.Remedy(err, "bridge.data"))
	}
}

// RunLocal serves on the control socket until ctx is done.
func (a *API) RunLocal(ctx context.Context) error {
	tick := time.NewTicker(socketEvery)
	defer tick.Stop()
	for a.socket == nil {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
			a.listenLocal()
		}
	}
	return serve(ctx, a.local, a.socket)
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
