package archive

import (
	"errors"
	"time"

	"vmsbridge/storage/journal"
	"vmsbridge/uplink/vms"
)

// own is the journal for what the bridge itself makes. Another program may have reported an event
// of the same camera, type and millisecond before; that one stays, and the bridge's own stands
// beside it under an id of its own.
type own struct{ *journal.Journal }

// Write stores events of the bridge's.
func (o own) Write(list ...journal.Record) []error {
	for i := range list {
		if list[i].Event.Owner == "" {
			list[i].Event.Owner = vms.OwnerSelf
		}
	}
	errs := o.Journal.Write(list...)
	for i, err := range errs {
		if errors.Is(err, vms.ErrOwned) {
			list[i].Event.ID = list[i].Event.SuffixedID(vms.OwnerSelf)
			errs[i] = o.Journal.Write(list[i])[0]
		}
	}
	return errs
}

// TouchAll notes that events of the bridge's go on.
func (o own) TouchAll(last map[string]time.Time) error {
	mine := make(map[string]time.Time, len(last))
	for id, at := range last {
		if ev, err := o.Get(id); err == nil && ev.Owner != "" && ev.Owner != vms.OwnerSelf {
			id = ev.SuffixedID(vms.OwnerSelf)
		}
		mine[id] = at
	}
	return o.Journal.TouchAll(mine)
}
