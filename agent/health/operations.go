package health

import (
	"path/filepath"
	"sync"
	"time"

	"vmsbridge/agent/clock"
	"vmsbridge/configs"
	"vmsbridge/storage/database"
	"vmsbridge/storage/journal"
	"vmsbridge/storage/stills"
	"vmsbridge/uplink/vms"
)

// The events that tell of a damaged store (to the interface, a significant operation on a device).
// Its data schema "carries mostly a state and a related error field".
const (
	TypeOperation   = "vms.deviceOperationEvent.v1"
	schemaOperation = "vms.deviceOperationUpdate.v1"
	schemaResource  = "vms.resourceDetails.v1"
)

// EventSink takes events and never waits.
type EventSink interface{ Put(ev vms.Event) }

// Operations makes events of what happens to the bridge itself: damage that a store found, a step
// of the clock. A store may find it before there is a writer to take an event, and while the store
// is locked, so nothing here waits for it. Safe for concurrent use.
type Operations struct {
	Bridge  configs.Bridge
	Version string
	Now     func() time.Time // on the pipelines' scale; nil: what is told has the right time

	mu      sync.Mutex
	last    time.Time // of the latest event
	waiting []vms.Event
	out     EventSink
}

// Journal is told by the journal.
func (o *Operations) Journal(d journal.Damage) {
	o.take(d.Time, map[string]any{"operation": "journalRecovery", "error": d.Cause,
		"recoveredEvents": d.Events, "waitingEvents": d.Waiting, "parkedEvents": d.Parked, "requeuedEvents": d.Requeued,
		"lostPages": d.LostPages, "damagedValues": d.DamagedValues, "setAside": filepath.Base(d.Aside)})
}

// Stills is told by the ring, which goes on without what is damaged.
func (o *Operations) Stills(d stills.Damage) {
	o.take(d.Time, map[string]any{"operation": "stillsRecovery", "error": d.String(),
		"damagedStills": d.Stills, "damagedSegments": d.Segments, "rebuiltIndexes": d.Indexes})
}

// People is told by the file of those who sign in.
func (o *Operations) People(d database.Damage) {
	o.take(d.Time, map[string]any{"operation": "identityRecovery", "error": d.Cause, "recoveredRecords": d.Records,
		"restoredFromCopy": d.Restored, "lostPages": d.LostPages, "damagedRecords": d.BadRecords,
		"setAside": filepath.Base(d.Aside)})
}

// Clock is told when the time has changed by more than a second.
func (o *Operations) Clock(s clock.Step) {
	o.take(s.At, map[string]any{"operation": "clockCorrection", "correctedBySeconds": s.By.Seconds(),
		"source": string(s.Source), "correctedEvents": s.Events})
}

func (o *Operations) take(at time.Time, operation map[string]any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.Now != nil {
		at = o.Now()
	}
	if o.last.Equal(at.Truncate(time.Millisecond)) {
		at = at.Add(time.Millisecond) // two of the same time would be one event
	}
	o.last = at.Truncate(time.Millisecond)
	ev := o.Event(at, operation)
	if o.out == nil {
		o.waiting = append(o.waiting, ev)
		return
	}
	o.out.Put(ev)
}

// Tell hands on what is known so far and whatever comes later.
func (o *Operations) Tell(out EventSink) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.out = out
	for _, ev := range o.waiting {
		out.Put(ev)
	}
	o.waiting = nil
}

// Event is one of an operation; one without a state of its own was completed.
func (o *Operations) Event(at time.Time, operation map[string]any) vms.Event {
	ev := vms.Event{Type: TypeOperation, StartTimestamp: vms.At(at), EndTimestamp: vms.Ptr(at),
		AccountID: o.Bridge.Account,
		ActorID:   o.Bridge.ID, ActorAccountID: o.Bridge.Account, ActorType: vms.ActorBridge,
		CreatorID: vms.CreatorHealth}
	operation["type"], operation["creatorId"] = schemaOperation, vms.CreatorHealth
	if operation["state"] == nil {
		operation["state"] = "completed"
	}
	items := []vms.Data{vms.CreatorDetails(vms.CreatorHealth,
		vms.CreatorInfo{ID: vms.CreatorHealth, Vendor: "vmsbridge", Application: "vmsbridge", Version: o.Version})}
	for _, fields := range []map[string]any{
		{"type": schemaResource, "creatorId": vms.CreatorHealth, "resourceId": o.Bridge.ID,
			"resourceName": o.Bridge.Name},
		operation,
	} {
		// These values always encode.
		if item, err := vms.MakeData(fields); err == nil {
			items = append(items, item)
		}
	}
	ev.SetData(items...)
	ev.ID = ev.NaturalID()
	return ev
}
