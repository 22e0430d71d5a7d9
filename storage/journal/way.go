package journal

import (
	"fmt"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/guard"
	"vmsbridge/storage/journal/schema"
)

// Way is how far an event is on its way to the service.
type Way int

// The ways. An event that is not there, or never to be reported, is on none.
const (
	OnNoWay Way = iota
	Waiting
	Refused // parked
	Accepted
)

// Ways are how far some events are, by id, and why those that are Refused were.
func (j *Journal) Ways(ids []string) (ways map[string]Way, reasons map[string]string, err error) {
	ways, reasons = map[string]Way{}, map[string]string{}
	err = j.file.View(func(tx *bolt.Tx) error {
		clear(ways)
		waiting, parked, events := guard.Bucket(tx, schema.OutboxID), guard.Bucket(tx, schema.Parked),
			guard.Bucket(tx, schema.Events)
		for _, id := range ids {
			key := []byte(id)
			if id == "" || len(id) > bolt.MaxKeySize {
				continue
			}
			_, head, err := schema.ReadEvent(key, events.Get(key))
			switch reason := parked.Get(key); {
			case err != nil:
			case waiting.Get(key) != nil:
				ways[id] = Waiting
			case reason != nil:
				var p schema.ParkedEntry
				_ = p.Read(reason) // a damaged one is refused all the same
				ways[id], reasons[id] = Refused, p.Reason
			case head.Sequence != 0:
				ways[id] = Accepted
			}
		}
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("see how far events are: %w", err)
	}
	return ways, reasons, nil
}
