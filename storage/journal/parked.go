package journal

import (
	"fmt"
	"time"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/guard"
	"vmsbridge/storage/journal/file"
	"vmsbridge/storage/journal/schema"
	"vmsbridge/uplink/vms"
)

// ParkedEntry is an event that the service refused for good. It stays until Retry, Drop, or the
// next reported Put of it.
type ParkedEntry struct {
	Event  vms.Event
	Reason string    // what the service said
	At     time.Time // when it was parked
	Since  time.Time // when it had entered the outbox
}

// Park moves an entry, durably, from the outbox to the parked ones, with the service's reason. As
// with AckAll, an entry that was renewed since stays in the outbox.
func (j *Journal) Park(id string, revision uint64, reason string) error {
	err := j.file.Do(func(t *schema.Tx) error {
		key, entry := t.Entry(id)
		if entry == nil || entry.Revision != revision {
			return nil
		}
		return t.Park(key, id, schema.ParkedEntry{Reason: reason, At: j.opts.Now().UTC(), Since: entry.Since})
	})
	if err != nil {
		return fmt.Errorf("park event %q: %w", id, err)
	}
	return nil
}

// Parked is all parked entries, by id.
func (j *Journal) Parked() ([]ParkedEntry, error) {
	var list []ParkedEntry
	err := j.file.View(func(tx *bolt.Tx) error {
		list = nil
		events := guard.Bucket(tx, schema.Events)
		return guard.Bucket(tx, schema.Parked).ForEach(func(k, v []byte) error {
			var p schema.ParkedEntry
			perr := p.Read(v)
			ev, _, err := schema.ReadEvent(k, events.Get(k))
			if err != nil || perr != nil {
				j.metrics.damaged.Inc()
			}
			if err != nil {
				return nil
			}
			list = append(list, ParkedEntry{Event: ev, Reason: p.Reason, At: p.At, Since: p.Since})
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("read the parked events: %w", err)
	}
	return list, nil
}

// Retry puts a parked event at the end of the outbox, durably. An id that is not parked gives
// ErrNotFound.
func (j *Journal) Retry(id string) error {
	err := j.file.Do(func(t *schema.Tx) error {
		if id == "" || t.Bucket(schema.Parked).Get([]byte(id)) == nil {
			return file.Refuse(ErrNotFound)
		}
		ev, _, err := schema.ReadEvent([]byte(id), t.Bucket(schema.Events).Get([]byte(id)))
		if err != nil {
			return file.Refuse(err)
		}
		return j.queue(t, ev)
	})
	if err != nil {
		return fmt.Errorf("retry event %q: %w", id, err)
	}
	return nil
}

// Drop gives up reporting an event that is parked or waits in the outbox, durably. The event itself
// stays in the journal. An id that is neither gives ErrNotFound.
func (j *Journal) Drop(id string) error {
	err := j.file.Do(func(t *schema.Tx) error {
		if id == "" {
			return file.Refuse(ErrNotFound)
		}
		if key, entry := t.Entry(id); entry != nil {
			if err := t.Remove(key, id); err != nil {
				return err
			}
		} else if was, err := t.Unpark(id); err != nil {
			return err
		} else if !was {
			return file.Refuse(ErrNotFound)
		}
		// It was never to be reported, so that Again leaves it alone too.
		if ev, _, err := schema.ReadEvent([]byte(id), t.Bucket(schema.Events).Get([]byte(id))); err == nil {
			body, err := schema.SealEvent(ev, 0)
			if err != nil {
				return err
			}
			return t.Bucket(schema.Events).Put([]byte(id), body)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("drop event %q: %w", id, err)
	}
	return nil
}
