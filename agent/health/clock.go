package health

import (
	"vmsbridge/agent/clock"
	"vmsbridge/uplink/vms"
)

// ClockReport is what the status page says of the clock.
func ClockReport(s clock.State) map[string]any {
	out := map[string]any{"true": s.Source != clock.Waiting, "since": vms.At(s.Since), "steps": s.Steps}
	if s.Source != clock.Waiting {
		out["source"] = string(s.Source)
	} else {
		out["waitsFor"] = s.WhyNot
	}
	if !s.LastStep.At.IsZero() {
		out["lastStep"] = map[string]any{"at": vms.At(s.LastStep.At), "bySeconds": s.LastStep.By.Seconds()}
	}
	if s.Unplaced > 0 {
		out["roughlyPlacedEvents"] = s.Unplaced
	}
	return out
}
