package journal

import (
	"fmt"
	"time"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/guard"
	"vmsbridge/storage/journal/form"
	"vmsbridge/storage/journal/query"
	"vmsbridge/storage/journal/table"
	"vmsbridge/uplink/vms"
)

// Ongoing is an event without an end, and when it was last known to go on.
type Ongoing struct {
	Event vms.Event
	// Last is the latest Touch, cut to the millisecond, or the event's start.
	Last time.Time
}

// Touch notes, durably, that an ongoing event was still going on at last. It is not reported. An earlier time than the one
// noted, and an event that has ended, change nothing; an unknown id gives ErrNotFound.
func (j *Journal) Touch(id string, last time.Time) error {
	if id == "" {
		return fmt.Errorf("touch event: %w", ErrNotFound)
	}
	at := last.UnixMilli()
	// Most touches of an unchanged span need no transaction that writes.
	var moot, known bool
	err := j.file.View(func(tx *bolt.Tx) error {
		noted := guard.Bucket(tx, form.Ongoing).Get([]byte(id))
		known = guard.Bucket(tx, form.Events).Get([]byte(id)) != nil
		moot = known && (noted == nil || form.KeyMS(noted) >= at)
		return nil
	})
	switch {
	case err != nil:
	case !known:
		err = ErrNotFound
	case !moot:
		err = j.file.Do(func(t *table.Tx) error {
			ongoing := t.Bucket(form.Ongoing)
			if noted := ongoing.Get([]byte(id)); noted == nil || form.KeyMS(noted) >= at {
				return nil
			}
			return ongoing.Put([]byte(id), form.MSKey(at))
		})
	}
	if err != nil {
		return fmt.Errorf("touch event %q: %w", id, err)
	}
	return nil
}

// Unfinished is all events without an end, by id. At start-up these are the spans that a crash cut off (and those that
// other programs reported as ongoing): the owner closes its own at Last.
func (j *Journal) Unfinished() ([]Ongoing, error) {
	var list []Ongoing
	err := j.file.View(func(tx *bolt.Tx) error {
		list = nil
		events := guard.Bucket(tx, form.Events)
		return guard.Bucket(tx, form.Ongoing).ForEach(func(k, v []byte) error {
			ev, _, err := form.ReadEvent(k, events.Get(k))
			if err != nil || len(v) != 8 {
				j.metrics.damaged.Inc()
				return nil
			}
			list = append(list, Ongoing{Event: ev, Last: form.MSTime(form.KeyMS(v))})
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("read the ongoing events: %w", err)
	}
	return list, nil
}

// OngoingOf is the events of these actors that have not ended, in no particular order. It reads no others.
func (j *Journal) OngoingOf(actors ...vms.Actor) ([]vms.Event, error) {
	var list []vms.Event
	err := j.file.View(func(tx *bolt.Tx) error {
		list = nil
		events := guard.Bucket(tx, form.Events)
		for _, a := range actors {
			query.Ongoing(tx, a, func(id []byte) {
				if ev, _, err := form.ReadEvent(id, events.Get(id)); err == nil && ev.Ongoing() {
					list = append(list, ev)
				}
			})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the ongoing events of %d actors: %w", len(actors), err)
	}
	return list, nil
}
