package agent

import (
	"path/filepath"
	"sync"

	"vmsbridge/configs"
	"vmsbridge/storage/journal"
	"vmsbridge/uplink/vms"
)

// The event that tells of a damaged store (interface/events.md §6.2: a significant operation on a device). Its data schema
// "carries mostly a state and a related error field".
const (
	typeOperation   = "vms.deviceOperationEvent.v1"
	schemaOperation = "vms.deviceOperationUpdate.v1"
	schemaResource  = "vms.resourceDetails.v1"
)

// casualties makes events of the damage that the journal finds. The journal may find it before there is an outlet to take
// an event, and while it is locked, so nothing here waits for it. Safe for concurrent use.
type casualties struct {
	bridge  configs.Bridge
	version string

	mu      sync.Mutex
	waiting []vms.Event
	out     *outlet
}

// Journal is told by the journal.
func (c *casualties) Journal(d journal.Damage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ev := c.event(d)
	if c.out == nil {
		c.waiting = append(c.waiting, ev)
		return
	}
	c.out.Put(ev)
}

// Tell hands on what is known so far and whatever comes later.
func (c *casualties) Tell(out *outlet) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.out = out
	for _, ev := range c.waiting {
		out.Put(ev)
	}
	c.waiting = nil
}

func (c *casualties) event(d journal.Damage) vms.Event {
	ev := vms.Event{Type: typeOperation, StartTimestamp: vms.At(d.Time), EndTimestamp: vms.Ptr(d.Time), AccountID: c.bridge.Account,
		ActorID: c.bridge.ID, ActorAccountID: c.bridge.Account, ActorType: vms.ActorBridge, CreatorID: vms.CreatorHealth}
	items := []vms.Data{vms.CreatorDetails(vms.CreatorHealth, vms.CreatorInfo{ID: vms.CreatorHealth, Vendor: "vmsbridge", Application: "vmsbridge", Version: c.version})}
	for _, fields := range []map[string]any{
		{"type": schemaResource, "creatorId": vms.CreatorHealth, "resourceId": c.bridge.ID, "resourceName": c.bridge.Name},
		{"type": schemaOperation, "creatorId": vms.CreatorHealth, "operation": "journalRecovery", "state": "completed", "error": d.Cause,
			"recoveredEvents": d.Events, "waitingEvents": d.Waiting, "parkedEvents": d.Parked, "requeuedEvents": d.Requeued,
			"lostPages": d.LostPages, "damagedValues": d.DamagedValues, "setAside": filepath.Base(d.Aside)},
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
