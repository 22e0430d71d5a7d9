package agent

import (
	"cmp"
	"errors"
	"net/http"

	"vmsbridge/agent/codec"
	"vmsbridge/agent/status"
	"vmsbridge/storage/guard"
	"vmsbridge/storage/vfs"
)

// health is the answer of the health checks: counts and no names, because they need no token.
type health struct {
	Status      string             `json:"status"` // ok, or degraded: see problems
	Cameras     tally              `json:"cameras"`
	Outbox      status.Outbox      `json:"outbox"`
	Tunnel      string             `json:"tunnel,omitempty"`      // up, down, unsupported by the service, or off; "" without a service
	Confinement *codec.Confinement `json:"confinement,omitempty"` // what confines their processes; nil until they were looked at
	Trouble     []string           `json:"problems"`
	Kinds       []status.Kind      `json:"kinds"` // of the problems, in their order
}

type tally struct {
	Online     int `json:"online"`
	Connecting int `json:"connecting"` // for the first time, and not for long: no problem yet
	Total      int `json:"total"`
}

// health says how the bridge is. A degraded bridge still works: what it says is for people and monitors.
func (a *Agent) health() health {
	r := a.Status()
	h := health{Status: "ok", Outbox: r.Outbox, Trouble: []string{}, Kinds: []status.Kind{}}
	for _, c := range r.Cameras {
		if c.State == status.Off {
			continue
		}
		h.Cameras.Total++
		switch {
		case c.Online:
			h.Cameras.Online++
		case connecting(c, r.Time):
			h.Cameras.Connecting++
		}
	}
	if d := a.decoders.get(); d.looked && d.problem == "" {
		h.Confinement = &d.Confinement
	}
	if r.Service != nil {
		h.Tunnel = r.Service.Tunnel
	}
	for _, p := range r.Problems {
		text := p.Public
		if text == "" {
			text = p.Text
		}
		h.Trouble, h.Kinds = append(h.Trouble, text), append(h.Kinds, p.Kind)
	}
	if len(h.Trouble) > 0 {
		h.Status = "degraded"
	}
	return h
}

// healthz answers 200 as long as the process serves: a restart would cure nothing of what it says.
func (a *Agent) healthz(w http.ResponseWriter, _ *http.Request) { answer(w, a.health()) }

// readyz answers 200 once everything runs and as long as the journal takes events, and 503 otherwise: a program that hands
// events in should wait.
func (a *Agent) readyz(w http.ResponseWriter, _ *http.Request) {
	select {
	case <-a.serving:
	default:
		http.Error(w, "the bridge is starting", http.StatusServiceUnavailable)
		return
	}
	if err := a.failing(); err != nil {
		http.Error(w, "the journal refuses events: "+remedy(err), http.StatusServiceUnavailable)
		return
	}
	answer(w, a.health())
}

// failing is why events cannot be stored now, nil if they can.
func (a *Agent) failing() error {
	if err := a.watch.Gone(); err != nil {
		return err
	}
	return cmp.Or(a.out.Failing(), a.journal.Failing())
}

// remedy says what to do about it. It names no path.
func remedy(err error) string {
	if errors.Is(err, guard.ErrGone) {
		return "bridge.data, or a file in it, was moved away or deleted: put it back; the bridge ends otherwise"
	}
	return vfs.Remedy(err, "bridge.data")
}
