package journal

import (
	"time"

	"vmsbridge/storage/journal/schema"
	"vmsbridge/uplink/vms"
)

// worth ranks events by what their loss costs. Those of the lowest go first.
type worth int

const (
	shortMotion worth = iota // under 5 s
	motion                   // under a minute
	longMotion
	other  // reported by other programs
	health // status and tamper
	ranks
	kept // ongoing: it is the present, not the past
)

func worthOf(h schema.Head) worth {
	switch took := time.Duration(h.End-h.Start) * time.Millisecond; {
	case h.End == schema.EndOngoing:
		return kept
	case h.Type == vms.TypeDeviceStatus || h.Type == vms.TypeTamper:
		return health
	case h.Type != vms.TypeMotion && h.Type != vms.TypeMotionInRegion:
		return other
	case took < 5*time.Second:
		return shortMotion
	case took < time.Minute:
		return motion
	}
	return longMotion
}
