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

// Entry is an event that waits to be reported. Revision grows each time the event is put again; Ack
// and Park name it. Attempts is how often Tried was called for it since it entered the outbox or
// since Open.
type Entry = vms.Queued

// Peek is up to n entries, oldest first, without those of actors for which skip says so (nil skips
// none). skip is called within a read transaction and must not call the journal. Entries stay; an
// event's renewal keeps its place.
func (j *Journal) Peek(n int, skip func(actorID string) bool) ([]Entry, error) {
	var list []Entry
	err := j.file.View(func(tx *bolt.Tx) error {
		list = nil
		events, c := guard.Bucket(tx, schema.Events), guard.Bucket(tx, schema.Outbox).Cursor()
		for k, v := c.First(); k != nil && len(list) < n; k, v = c.Next() {
			e, err := j.unsealEntry(v)
			if err != nil || skip != nil && skip(e.ActorID) {
				continue
			}
			list = j.appendEntry(list, e, binary.BigEndian.Uint64(k), events)
		}
		return nil
	})
	return j.tried(list, err)
}

// unsealEntry reads an entry of the outbox. A damaged one is counted.
func (j *Journal) unsealEntry(value []byte) (e schema.Entry, err error) {
	if err = e.Read(value); err != nil {
		j.metrics.damaged.Inc()
	}
	return e, err
}

// appendEntry appends the entry with its event. One whose event is damaged is counted and left out.
func (j *Journal) appendEntry(list []Entry, e schema.Entry, place uint64, events *bolt.Bucket) []Entry {
	ev, _, err := schema.ReadEvent([]byte(e.ID), events.Get([]byte(e.ID)))
	if err != nil {
		j.metrics.damaged.Inc()
		return list
	}
	return append(list, Entry{Event: ev, Place: place, Revision: e.Revision, Since: e.Since})
}

// tried adds to entries that were read how often each was tried; err is that of the reading.
func (j *Journal) tried(list []Entry, err error) ([]Entry, error) {
	if err != nil {
		return nil, fmt.Errorf("read the outbox: %w", err)
	}
	j.stateMu.Lock()
	defer j.stateMu.Unlock()
	for i := range list {
		list[i].Attempts = j.tries[list[i].Event.ID]
	}
	return list, nil
}

// Ack removes an entry, durably, because the service has that revision of the event. If the event
// was put again since it was read, the entry stays; so an id that does not wait, or waits with
// another revision, is no error.
func (j *Journal) Ack(id string, revision uint64) error {
	err := j.file.Do(func(t *schema.Tx) error {
		key, entry := t.Entry(id)
		if entry == nil || entry.Revision != revision {
			return nil
		}
		return t.Remove(key, id)
	})
	if err != nil {
		return fmt.Errorf("acknowledge event %q: %w", id, err)
	}
	return nil
}

// Tried counts an attempt to report the event, for Entry.Attempts. It is kept in memory only.
func (j *Journal) Tried(id string) {
	j.stateMu.Lock()
	defer j.stateMu.Unlock()
	j.tries[id]++
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
