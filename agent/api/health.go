package api

import (
	"net/http"

	"vmsbridge/agent/archive"
)

// healthz answers 200 as long as the process serves: a restart would cure nothing of what it says.
func (a *API) healthz(w http.ResponseWriter, _ *http.Request) { a.answerHealth(w) }

// readyz answers 200 once everything runs and as long as the journal takes events, and 503
// otherwise: a program that hands events in should wait.
func (a *API) readyz(w http.ResponseWriter, _ *http.Request) {
	select {
	case <-a.opts.Ready:
	default:
		http.Error(w, "the bridge is starting", http.StatusServiceUnavailable)
		return
	}
	if err := a.opts.Archive.Failing(); err != nil {
		http.Error(w, "the journal refuses events: "+archive.Remedy(err), http.StatusServiceUnavailable)
		return
	}
	a.answerHealth(w)
}

func (a *API) answerHealth(w http.ResponseWriter) {
	r := a.opts.Status()
	answer(w, r.Summary())
}
