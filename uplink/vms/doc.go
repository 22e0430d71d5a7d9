// Package vms holds the words of the service's interface: the event envelope, its data items, the
// catalogue of event types, the list query and page, times, and the error body. It is a leaf: it
// does no I/O and imports nothing of ours, so that the agent, the journal, both servers and the
// client speak one language.
//
//	ev := vms.Event{Type: vms.TypeMotion, StartTimestamp: vms.At(start), ActorID: "100d4c41", ...}
//	ev.ID = ev.NaturalID() // 100d4c41-2026-11-21T07:10:00.000+00:00-vms.motionDetectionEvent.v1
package vms
