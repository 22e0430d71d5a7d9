package archive

import (
	"time"

	"vmsbridge/agent/pipeline"
	"vmsbridge/uplink/vms"
)

// clockWait is how long after the start a camera that is online may wait for the clock to be true,
// before it counts as a new time.
const clockWait = 15 * time.Second

// Resume is the state in which a camera was left, once. While the clock is not true, nobody can say
// for how long nobody looked: whoever waits asks again; else the state ended when it was last seen.
func (s *Archive) Resume(camera string, waits bool) (r pipeline.Resumed, ok, later bool) {
	now := s.clock.State()
	untrue := now.Era != 0 || now.Unmoved
	s.left.mu.Lock()
	o, ok := s.left.spans[camera]
	if later = ok && untrue && waits && time.Since(s.opened) < clockWait; !later {
		delete(s.left.spans, camera)
	}
	s.left.mu.Unlock()
	if !ok || later {
		return r, false, later
	}
	stored, err := s.Journal.Get(o.Event.ID)
	if err != nil || !stored.Ongoing() {
		return r, false, false // it was moved with the clock, or ended
	}
	if untrue {
		s.endStored(o)
		return r, false, false
	}
	r = pipeline.Resumed{Start: s.clock.Back(stored.StartTimestamp.Time), Last: s.clock.Back(o.Last)}
	for _, d := range stored.Data {
		var now struct {
			NewStatus vms.ConnectionStatus `json:"newStatus"`
		}
		var before struct {
			vms.ConnectionStatus
			Start vms.Time `json:"startTimestamp"`
		}
		switch {
		case d.Type == vms.SchemaDeviceStatus && d.Into(&now) == nil:
			r.Connection = now.NewStatus.ConnectionStatus
		case d.Type == vms.SchemaPreviousStatus && d.Into(&before) == nil:
			r.Before, r.BeforeStart = before.ConnectionStatus.ConnectionStatus, s.clock.Back(before.Start.Time)
		}
	}
	return r, r.Connection != "", false
}
