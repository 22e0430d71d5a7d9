package agent

import (
	"errors"
	"time"

	"vmsbridge/storage/journal"
	"vmsbridge/uplink/vms"
)

// own is the journal for what the bridge itself makes. Another program may have reported an event of the same camera, type and
// millisecond before; that one stays, and the bridge's own stands beside it under an id of its own.
type own struct{ *journal.Journal }

// Put stores an event of the bridge's.
func (o own) Put(ev vms.Event, report bool) error {
	return o.store(ev, func(ev vms.Event) error { return o.Journal.Put(ev, report) })
}

// PutProvisional stores one whose times are not true yet.
func (o own) PutProvisional(ev vms.Event, report bool, era uint32) error {
	return o.store(ev, func(ev vms.Event) error { return o.Journal.PutProvisional(ev, report, era) })
}

func (o own) store(ev vms.Event, put func(vms.Event) error) error {
	if ev.Owner == "" {
		ev.Owner = vms.OwnerSelf
	}
	err := put(ev)
	if errors.Is(err, vms.ErrOwned) {
		ev.ID = ev.SuffixedID(vms.OwnerSelf)
		err = put(ev)
	}
	return err
}

// Touch notes that an event of the bridge's goes on.
func (o own) Touch(id string, last time.Time) error {
	if ev, err := o.Get(id); err == nil && ev.Owner != "" && ev.Owner != vms.OwnerSelf {
		id = ev.SuffixedID(vms.OwnerSelf)
	}
	return o.Journal.Touch(id, last)
}
