package pipeline

import (
	"time"

	"vmsbridge/storage/stills"
	"vmsbridge/uplink/vms"
)

// Outlet takes events and never makes the pipeline wait: Put one to be made durable, Touch the last
// activity of one that goes on. EventWriter of agent/archive is one.
type Outlet interface {
	Put(ev vms.Event)
	Touch(id string, last time.Time)
}

// Ring keeps the stills, and notes when there were none. storage/stills has one.
type Ring interface {
	Append(stills.Still) error
	Gap(camera string, from, to time.Time, reason string) error
	Find(camera string, k stills.Kind, op stills.Op, t time.Time) (stills.Still, error)
}
