package journal

import (
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/journal/form"
	"vmsbridge/uplink/vms"
)

// Entry is an event that waits to be reported.
type Entry struct {
	Event vms.Event
	// Place is where the entry stands in the outbox: older ones have lower places.
	Place uint64
	// Revision grows each time the event is put again; Ack and Park name it.
	Revision uint64
	// Attempts is how often Tried was called for it since it entered the outbox or since Open.
	Attempts int
	// Since is when the event entered the outbox.
	Since time.Time
}

// enqueue puts ev at the end of the outbox, or renews the entry that waits. It returns the entry's sequence.
func (t *txn) enqueue(ev vms.Event, now time.Time) (uint64, error) {
	outbox, ids, id := t.bucket(form.Outbox), t.bucket(form.OutboxID), []byte(ev.ID)
	revision, err := nextSequence(outbox)
	if err != nil {
		return 0, err
	}
	entry := form.Entry{ID: ev.ID, ActorID: ev.ActorID, Revision: revision, Since: now.UTC()}
	key := ids.Get(id)
	if key != nil {
		// A damaged entry is renewed as a new one, in its old place.
		var old form.Entry
		if err := old.Read(outbox.Get(key)); err == nil {
			entry.Since = old.Since
		}
		key = slices.Clone(key)
	} else {
		key = form.SequenceKey(revision)
		if err := ids.Put(id, key); err != nil {
			return 0, err
		}
		t.waiting++
	}
	value, err := entry.Seal()
	if err != nil {
		return 0, err
	}
	if err := outbox.Put(key, value); err != nil {
		return 0, err
	}
	if parked := t.bucket(form.Parked); parked.Get(id) != nil {
		if err := parked.Delete(id); err != nil {
			return 0, err
		}
		t.parked--
	}
	t.queued = true
	return binary.BigEndian.Uint64(key), nil
}

// nextSequence never gives a number of an entry that waits, also if the bucket's own count was damaged.
func nextSequence(outbox bucket) (uint64, error) {
	if last, _ := outbox.Cursor().Last(); len(last) == 8 && binary.BigEndian.Uint64(last) > outbox.Sequence() {
		if err := outbox.SetSequence(binary.BigEndian.Uint64(last)); err != nil {
			return 0, err
		}
	}
	return outbox.NextSequence()
}

// waitingEntry is the entry of an id in the outbox with its key, or nil.
func (t *txn) waitingEntry(id string) (key []byte, entry *form.Entry) {
	key = t.bucket(form.OutboxID).Get([]byte(id))
	if key == nil {
		return nil, nil
	}
	entry = &form.Entry{ID: id}
	// A damaged entry has revision 0, which no Ack names; Put and Drop still reach it.
	_ = entry.Read(t.bucket(form.Outbox).Get(key))
	return slices.Clone(key), entry
}

// remove takes an entry out of the outbox.
func (t *txn) remove(key []byte, id string) error {
	outbox := t.bucket(form.Outbox)
	if err := outbox.Delete(key); err != nil {
		return err
	}
	if err := t.bucket(form.OutboxID).Delete([]byte(id)); err != nil {
		return err
	}
	t.waiting--
	t.bytes -= int64(len(t.bucket(form.Events).Get([]byte(id))))
	t.forget = append(t.forget, id)
	// low lets a recovery that lost a part of the outbox tell which events the service surely has.
	low := form.SequenceKey(outbox.Sequence() + 1)
	if first, _ := outbox.Cursor().First(); first != nil {
		low = slices.Clone(first)
	}
	return t.bucket(form.Format).Put(form.KeyLow, low)
}

// Peek is up to n entries, oldest first, without those of actors for which skip says so (nil skips none). skip is called
// within a read transaction and must not call the journal. Entries stay; an event's renewal keeps its place.
func (j *Journal) Peek(n int, skip func(actorID string) bool) ([]Entry, error) {
	var list []Entry
	err := j.view(func(tx *bolt.Tx) error {
		list = nil
		events, c := txBucket(tx, form.Events), txBucket(tx, form.Outbox).Cursor()
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
func (j *Journal) unsealEntry(value []byte) (e form.Entry, err error) {
	if err = e.Read(value); err != nil {
		j.metrics.damaged.Inc()
	}
	return e, err
}

// appendEntry appends the entry with its event. One whose event is damaged is counted and left out.
func (j *Journal) appendEntry(list []Entry, e form.Entry, place uint64, events *bolt.Bucket) []Entry {
	ev, _, err := form.ReadEvent([]byte(e.ID), events.Get([]byte(e.ID)))
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

// Ack removes an entry, durably, because the service has that revision of the event. If the event was put again since it
// was read, the entry stays; so an id that does not wait, or waits with another revision, is no error.
func (j *Journal) Ack(id string, revision uint64) error {
	err := j.do(func(t *txn) error {
		key, entry := t.waitingEntry(id)
		if entry == nil || entry.Revision != revision {
			return nil
		}
		return t.remove(key, id)
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
	err := j.view(func(tx *bolt.Tx) error {
		s.Bytes, s.Free, s.Events, s.Oldest = tx.Size(), freeBytes(tx), count(tx), time.Time{}
		c := txBucket(tx, form.Outbox).Cursor()
		for k, v := c.First(); k != nil; k, v = c.Next() {
			var e form.Entry
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
	j.stateMu.Lock()
	defer j.stateMu.Unlock()
	s.Waiting, s.Parked = j.waiting, j.parked
	return s, nil
}
