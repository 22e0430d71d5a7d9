package journal

import (
	"encoding/binary"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/guard"
	"vmsbridge/storage/journal/schema"
	"vmsbridge/uplink/vms"
)

// Scan calls visit with the place and the actor of up to n entries of the outbox that stand after a
// place (0: all), oldest first. It reads no events, so that a million entries cost little. visit is
// called within a read transaction and must not call the journal. An entry keeps its place until it
// leaves the outbox, and no place is given twice.
func (j *Journal) Scan(after uint64, n int, visit func(place uint64, actorID string)) error {
	err := j.file.View(func(tx *bolt.Tx) error {
		c := guard.Bucket(tx, schema.Outbox).Cursor()
		for k, v := c.Seek(schema.SequenceKey(after + 1)); k != nil && n > 0; k, v = c.Next() {
			var e schema.Entry
			if err := e.Read(v); err != nil || len(k) != 8 {
				j.metrics.damaged.Inc()
				continue
			}
			visit(binary.BigEndian.Uint64(k), e.ActorID)
			n--
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read the outbox: %w", err)
	}
	return nil
}

// LastPlace is a place such that every entry that enters the outbox from now on stands after it.
func (j *Journal) LastPlace() (place uint64, err error) {
	err = j.file.View(func(tx *bolt.Tx) error {
		outbox := guard.Bucket(tx, schema.Outbox)
		place = outbox.Sequence()
		if last, _ := outbox.Cursor().Last(); len(last) == 8 {
			place = max(place, binary.BigEndian.Uint64(last))
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("read the outbox: %w", err)
	}
	return place, nil
}

// Load is the entries at these places, in their order, without those that have left the outbox.
func (j *Journal) Load(places []uint64) (list []Entry, err error) {
	list = make([]Entry, 0, len(places))
	err = j.file.View(func(tx *bolt.Tx) error {
		list = list[:0]
		events, outbox := guard.Bucket(tx, schema.Events), guard.Bucket(tx, schema.Outbox)
		for _, place := range places {
			if value := outbox.Get(schema.SequenceKey(place)); value != nil {
				list = j.appendEntry(list, value, place, events)
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the outbox: %w", err)
	}
	return list, nil
}

// AckAll removes entries, durably and in one transaction, because the service has those revisions
// of the events. renewed are the places of those that stay, because their events were put again
// since they were read. One that does not wait is no error.
func (j *Journal) AckAll(entries []Entry) (renewed []uint64, err error) {
	err = j.file.Do(func(t *schema.Tx) error {
		renewed = renewed[:0]
		for _, e := range entries {
			key, entry := t.Entry(e.Event.ID)
			switch {
			case entry == nil:
			case entry.Revision != e.Revision:
				renewed = append(renewed, binary.BigEndian.Uint64(key))
			default:
				if err := t.Remove(key, e.Event.ID); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("acknowledge %d events: %w", len(entries), err)
	}
	return renewed, nil
}

// PutAll puts events in one transaction, in their order, as Put does each; all are stored, or none
// is. The error names the first event that is to blame, if one is.
func (j *Journal) PutAll(events []vms.Event, report bool) error {
	type sealed struct {
		event vms.Event
		body  []byte
	}
	list := make([]sealed, len(events))
	for i, ev := range events {
		ev, body, err := schema.SealChecked(ev)
		if err != nil {
			return fmt.Errorf("put event %q: %w", ev.ID, err)
		}
		list[i] = sealed{ev, body}
	}
	err := j.file.Do(func(t *schema.Tx) error {
		for _, s := range list {
			if err := mayReplace(t, s.event); err != nil {
				return err
			}
		}
		for _, s := range list {
			if err := j.put(t, s.event, s.body, report); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("put %d events: %w", len(events), err)
	}
	j.metrics.puts.Add(float64(len(events)))
	return nil
}
