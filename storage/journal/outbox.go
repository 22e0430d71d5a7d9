package journal

import (
	"encoding/binary"
	"fmt"
	"time"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/guard"
	"vmsbridge/storage/journal/file"
	"vmsbridge/storage/journal/schema"
	"vmsbridge/uplink/vms"
)

// Entry is an event that waits to be reported. Revision grows each time the event is put again;
// AckAll and Park name it.
type Entry = vms.Queued

// Peek is up to n entries, oldest first. They stay; an event's renewal keeps its place.
func (j *Journal) Peek(n int) (list []Entry, err error) {
	err = j.file.View(func(tx *bolt.Tx) error {
		list = nil
		events, c := guard.Bucket(tx, schema.Events), guard.Bucket(tx, schema.Outbox).Cursor()
		for k, v := c.First(); k != nil && len(list) < n; k, v = c.Next() {
			list = j.appendEntry(list, v, binary.BigEndian.Uint64(k), events)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the outbox: %w", err)
	}
	return list, nil
}

// appendEntry appends an entry of the outbox with its event. One that is damaged, or whose event
// is, is counted and left out.
func (j *Journal) appendEntry(list []Entry, value []byte, place uint64, events *bolt.Bucket) []Entry {
	var e schema.Entry
	err := e.Read(value)
	if err == nil {
		var ev vms.Event
		if ev, _, err = schema.ReadEvent([]byte(e.ID), events.Get([]byte(e.ID))); err == nil {
			return append(list, Entry{Event: ev, Place: place, Revision: e.Revision, Since: e.Since})
		}
	}
	j.metrics.damaged.Inc()
	return list
}

// Stats is the state of the outbox.
type Stats struct {
	Waiting int       // entries in the outbox
	Parked  int       // entries refused for good
	Oldest  time.Time // since when the first entry in the outbox waits; zero if none does
	Events  int       // events in the journal, those above included
	Bytes   int64     // size of the journal's file; pages are reused, so it shrinks only by Compact
	Free    int64     // of those, bytes of pages that hold nothing
}

// OutboxStats is cheap: it reads one entry.
func (j *Journal) OutboxStats() (Stats, error) {
	var s Stats
	err := j.file.View(func(tx *bolt.Tx) error {
		s.Bytes, s.Free = file.Size(tx)
		s.Events, s.Oldest = schema.Count(tx), time.Time{}
		c := guard.Bucket(tx, schema.Outbox).Cursor()
		for k, v := c.First(); k != nil; k, v = c.Next() {
			var e schema.Entry
			if err := e.Read(v); err == nil {
				s.Oldest = e.Since
				break
			}
		}
		return nil
	})
	if err != nil {
		return Stats{}, fmt.Errorf("read the outbox: %w", err)
	}
	s.Waiting, s.Parked = j.file.Tally()
	return s, nil
}

// Empty reports whether there is no event.
func (j *Journal) Empty() (bool, error) {
	s, err := j.OutboxStats()
	return s.Events == 0, err
}
