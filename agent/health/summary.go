package health

import "vmsbridge/agent/codec"

// Summary is the answer of the health checks: counts and no names, because they need no token.
type Summary struct {
	Status      string             `json:"status"` // ok, or degraded: see problems
	Cameras     Count              `json:"cameras"`
	Outbox      Outbox             `json:"outbox"`
	Tunnel      string             `json:"tunnel,omitempty"`      // up, down, unsupported by the service, or off; "" without a service
	Confinement *codec.Confinement `json:"confinement,omitempty"` // of the decoder processes; nil until they were looked at
	Trouble     []string           `json:"problems"`
	Kinds       []Kind             `json:"kinds"` // of the problems, in their order
}

// Count is how many cameras are in which state.
type Count struct {
	Online     int `json:"online"`
	Connecting int `json:"connecting"` // for the first time, and not for long: no problem yet
	Total      int `json:"total"`
}

// Summary says how the bridge is. A degraded bridge still works: what is said is for people and
// monitors.
func (r *Report) Summary() Summary {
	s := Summary{Status: "ok", Outbox: r.Outbox, Trouble: []string{}, Kinds: []Kind{}}
	for _, c := range r.Cameras {
		if c.State == Off {
			continue
		}
		s.Cameras.Total++
		switch {
		case c.Online:
			s.Cameras.Online++
		case connecting(c, r.Time):
			s.Cameras.Connecting++
		}
	}
	if r.DecodersKnown {
		s.Confinement = &r.Decoders.Confinement
	}
	if r.Service != nil {
		s.Tunnel = r.Service.Tunnel
	}
	for _, p := range r.Problems {
		text := p.Public
		if text == "" {
			text = p.Text
		}
		s.Trouble, s.Kinds = append(s.Trouble, text), append(s.Kinds, p.Kind)
	}
	if len(s.Trouble) > 0 {
		s.Status = "degraded"
	}
	return s
}
