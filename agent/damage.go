package agent

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

// The events that tell of a damaged store (to the interface, a significant operation on a device). Its data schema
// "carries mostly a state and a related error field".
const (
	typeOperation   = "vms.deviceOperationEvent.v1"
	schemaOperation = "vms.deviceOperationUpdate.v1"
	schemaResource  = "vms.resourceDetails.v1"
)

// teller takes events and never waits; the outlet is one.
type teller interface{ Put(ev vms.Event) }

// casualties makes events of the damage that the journal and the ring find. They may find it before there is an outlet to take
// an event, and while they are locked, so nothing here waits for them. Safe for concurrent use.
type casualties struct {
	bridge  configs.Bridge
	version string
	now     func() time.Time // on the pipelines' scale; nil: what is told has the right time

	mu      sync.Mutex
	last    time.Time // of the latest event
	waiting []vms.Event
	out     teller
}

// Journal is told by the journal.
func (c *casualties) Journal(d journal.Damage) {
	c.take(d.Time, map[string]any{"operation": "journalRecovery", "error": d.Cause,
		"recoveredEvents": d.Events, "waitingEvents": d.Waiting, "parkedEvents": d.Parked, "requeuedEvents": d.Requeued,
		"lostPages": d.LostPages, "damagedValues": d.DamagedValues, "setAside": filepath.Base(d.Aside)})
}

// Stills is told by the ring, which goes on without what is damaged.
func (c *casualties) Stills(d stills.Damage) {
	c.take(d.Time, map[string]any{"operation": "stillsRecovery", "error": d.String(),
		"damagedStills": d.Stills, "damagedSegments": d.Segments, "rebuiltIndexes": d.Indexes})
}

// People is told by the file of those who sign in.
func (c *casualties) People(d database.Damage) {
	c.take(d.Time, map[string]any{"operation": "identityRecovery", "error": d.Cause, "recoveredRecords": d.Records,
		"restoredFromCopy": d.Restored, "lostPages": d.LostPages, "damagedRecords": d.BadRecords, "setAside": filepath.Base(d.Aside)})
}

// Clock is told when the time has changed by more than a second.
func (c *casualties) Clock(s clock.Step) {
	c.take(s.At, map[string]any{"operation": "clockCorrection", "correctedBySeconds": s.By.Seconds(), "source": string(s.Source), "correctedEvents": s.Events})
}

func (c *casualties) take(at time.Time, operation map[string]any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now != nil {
		at = c.now()
	}
	if c.last.Equal(at.Truncate(time.Millisecond)) {
		at = at.Add(time.Millisecond) // two of the same time would be one event
	}
	c.last = at.Truncate(time.Millisecond)
	ev := c.event(at, operation)
	if c.out == nil {
		c.waiting = append(c.waiting, ev)
		return
	}
	c.out.Put(ev)
}

// Tell hands on what is known so far and whatever comes later.
func (c *casualties) Tell(out teller) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.out = out
	for _, ev := range c.waiting {
		out.Put(ev)
	}
	c.waiting = nil
}

// event is one of an operation; one without a state of its own was completed.
func (c *casualties) event(at time.Time, operation map[string]any) vms.Event {
	ev := vms.Event{Type: typeOperation, StartTimestamp: vms.At(at), EndTimestamp: vms.Ptr(at), AccountID: c.bridge.Account,
		ActorID: c.bridge.ID, ActorAccountID: c.bridge.Account, ActorType: vms.ActorBridge, CreatorID: vms.CreatorHealth}
	operation["type"], operation["creatorId"] = schemaOperation, vms.CreatorHealth
	if operation["state"] == nil {
		operation["state"] = "completed"
	}
	items := []vms.Data{vms.CreatorDetails(vms.CreatorHealth, vms.CreatorInfo{ID: vms.CreatorHealth, Vendor: "vmsbridge", Application: "vmsbridge", Version: c.version})}
	for _, fields := range []map[string]any{
		{"type": schemaResource, "creatorId": vms.CreatorHealth, "resourceId": c.bridge.ID, "resourceName": c.bridge.Name},
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
