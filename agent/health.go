package agent

import (
	"encoding/json"
	"fmt"
	"net/http"

	"vmsbridge/motion/tamper"
	"vmsbridge/uplink/vms"
)

// health is the answer of the health checks: counts and no names, because they need no token.
type health struct {
	Status  string   `json:"status"` // ok, or degraded: see problems
	Cameras tally    `json:"cameras"`
	Outbox  backlog  `json:"outbox"`
	Tunnel  string   `json:"tunnel,omitempty"` // up, down, unsupported by the service, or off; "" without a service
	Trouble []string `json:"problems"`
}

type tally struct {
	Online int `json:"online"`
	Total  int `json:"total"`
}

type backlog struct {
	Waiting int       `json:"waiting"`
	Parked  int       `json:"parked"`
	Oldest  *vms.Time `json:"oldest"`
}

// Health says how the bridge is. A degraded bridge still works: what it says is for people and monitors.
func (a *Agent) health() health {
	h := health{Status: "ok", Trouble: []string{}}
	for _, s := range a.posts {
		h.Cameras.Total++
		if connection(s.current.Load().State()) == vms.StatusOnline {
			h.Cameras.Online++
		}
	}
	if h.Cameras.Online < h.Cameras.Total {
		h.Trouble = append(h.Trouble, "not all cameras are online: the log and /api/v3.0/cameras?include=status say which")
	}
	tampered := 0
	for _, s := range a.posts {
		if s.current.Load().Tampered() != tamper.None {
			tampered++
		}
	}
	if tampered > 0 {
		h.Trouble = append(h.Trouble, fmt.Sprintf("the view of %d cameras was tampered with: vmsbridge events --type tamper says which", tampered))
	}
	if err := a.out.Failing(); err != nil {
		h.Trouble = append(h.Trouble, "the journal refuses events, they wait in memory: free space on the disk that holds bridge.data")
	}
	if st, err := a.journal.OutboxStats(); err == nil {
		h.Outbox.Waiting, h.Outbox.Parked = st.Waiting, st.Parked
		if !st.Oldest.IsZero() {
			h.Outbox.Oldest = vms.Ptr(st.Oldest)
		}
	}
	if a.link != nil {
		if problem := a.link.Problem(); problem != "" {
			h.Trouble = append(h.Trouble, problem)
		}
		var problem string
		if h.Tunnel, problem = a.link.Tunnel(); problem != "" {
			h.Trouble = append(h.Trouble, problem)
		}
	}
	if h.Outbox.Parked > 0 {
		h.Trouble = append(h.Trouble, "the service has refused events for good: vmsbridge queue list shows why")
	}
	if len(h.Trouble) > 0 {
		h.Status = "degraded"
	}
	return h
}

// healthz answers 200 as long as the process serves; readyz too, because the API is opened only once the stores are.
func (a *Agent) healthz(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(a.health())
}
