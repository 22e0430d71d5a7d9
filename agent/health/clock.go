package health

import (
	"fmt"
	"time"

	"vmsbridge/agent/clock"
	"vmsbridge/uplink/vms"
)

// ClockBeside is what is told of a machine's clock that the bridge does not follow; "" if it does.
func ClockBeside(s clock.State) string {
	by, way := s.Beside.Round(time.Second), "ahead of"
	if by < 0 {
		by, way = -by, "behind"
	}
	if by == 0 {
		return ""
	}
	return fmt.Sprintf("the machine's clock was set and is now %v %s the time that the bridge goes by: nothing "+
		"vouches for it, so events keep the bridge's time", by, way)
}

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
	if s.Beside != 0 {
		out["machineAheadSeconds"] = s.Beside.Seconds()
	}
	if s.Unplaced > 0 {
		out["roughlyPlacedEvents"] = s.Unplaced
	}
	return out
}
