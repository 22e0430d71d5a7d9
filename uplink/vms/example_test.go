package vms_test

import (
	"fmt"
	"time"

	"vmsbridge/uplink/vms"
)

// What an event is called, and what is wrong with one.
func ExampleEvent() {
	start := time.Date(2026, 11, 21, 7, 10, 0, 0, time.UTC)
	ev := vms.Event{Type: vms.TypeMotion, StartTimestamp: vms.At(start), ActorID: "gate", ActorType: vms.ActorCamera,
		CreatorID: vms.CreatorMotion, Span: true}
	fmt.Println(ev.NaturalID())

	end := vms.At(start.Add(-time.Second))
	ev.EndTimestamp = &end
	fmt.Println(vms.Check(ev)[0])
	// Output:
	// gate-2026-11-21T07:10:00.000+00:00-vms.motionDetectionEvent.v1
	// endTimestamp: is before startTimestamp
}
