package journal

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/uplink/vms"
)

// An event that was recorded while the clock was untrue is provisional: it is of an era, a number of the owner's, and all times of
// one era are wrong by the same. That is noted beside the event, and when the amount is known, Settle puts them all right. The owner
// sees to it that none is reported before.

// provisionalPrefix begins the keys of the notes in the bucket of the owner's values, apart from the owner's by its zero byte. The
// rest is the event's id; the value is the era (4).
const provisionalPrefix = "\x00untrue/"

func provisionalKey(id string) []byte { return []byte(provisionalPrefix + id) }

// PutProvisional is Put for an event whose times are of an era; 0 is none. Put leaves the note of an event that is put again.
func (j *Journal) PutProvisional(ev vms.Event, report bool, era uint32) error {
	if era == 0 {
		return j.Put(ev, report)
	}
	ev, body, err := sealChecked(ev)
	if err != nil {
		return fmt.Errorf("put event %q: %w", ev.ID, err)
	}
	note := resum(binary.BigEndian.AppendUint32([]byte{tagMeta, 0, 0, 0, 0}, era))
	err = j.do(func(t *txn) error {
		if err := t.bucket(bucketMeta).Put(provisionalKey(ev.ID), note); err != nil {
			return err
		}
		return j.put(t, ev, body, report)
	})
	if err != nil {
		return fmt.Errorf("put event %q: %w", ev.ID, err)
	}
	j.metrics.puts.Inc()
	return nil
}

// provisional is the ids of an era's events.
func provisional(tx *bolt.Tx, era uint32) (ids []string) {
	c := txBucket(tx, bucketMeta).Cursor()
	for k, v := c.Seek([]byte(provisionalPrefix)); bytes.HasPrefix(k, []byte(provisionalPrefix)); k, v = c.Next() {
		if b, err := verified(tagMeta, v); err == nil && len(b) == 4 && binary.BigEndian.Uint32(b) == era {
			ids = append(ids, string(k[len(provisionalPrefix):]))
		}
	}
	return ids
}

// Extent is the first and the last time of an era's events, as they are stored: of their starts, ends and last known activity.
func (j *Journal) Extent(era uint32) (from, to time.Time, ok bool, err error) {
	err = j.view(func(tx *bolt.Tx) error {
		ok = false
		events, ongoing := txBucket(tx, bucketEvents), txBucket(tx, bucketOngoing)
		for _, id := range provisional(tx, era) {
			h, err := decodeHead(events.Get([]byte(id)))
			if err != nil {
				continue
			}
			last := max(h.start, h.end)
			if h.end == endOngoing {
				last = h.start
				if v := ongoing.Get([]byte(id)); len(v) == 8 {
					last = max(last, keyMS(v))
				}
			}
			if first := msTime(h.start); !ok || first.Before(from) {
				from = first
			}
			if t := msTime(last); !ok || t.After(to) {
				to = t
			}
			ok = true
		}
		return nil
	})
	if err != nil {
		return from, to, false, fmt.Errorf("read the events of era %d: %w", era, err)
	}
	return from, to, ok, nil
}

// Settle moves all times of an era's events by shift, and their ids with them, in one transaction: where they wait to be reported, are
// parked or go on they do so under the new id, in the same place. change, if it is not nil, may change each further, but not its id,
// type, actor and times. It says how many events there were; an era without any is no error, so that it can be called again.
func (j *Journal) Settle(era uint32, shift time.Duration, change func(vms.Event) vms.Event) (n int, err error) {
	err = j.do(func(t *txn) error {
		n = 0
		ids := provisional(t.Tx, era)
		for _, id := range ids {
			if err := t.bucket(bucketMeta).Delete(provisionalKey(id)); err != nil {
				return err
			}
		}
		for _, id := range ids {
			ev, h, err := decodeEvent([]byte(id), t.bucket(bucketEvents).Get([]byte(id)))
			if err != nil {
				j.metrics.damaged.Inc() // it is gone, or damaged, which is told elsewhere
				continue
			}
			if err := j.retime(t, ev, h, shift, change); err != nil {
				return err
			}
			n++
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("settle the events of era %d: %w", era, err)
	}
	return n, nil
}

// retime moves one event.
func (j *Journal) retime(t *txn, old vms.Event, h head, shift time.Duration, change func(vms.Event) vms.Event) error {
	ev := old.Retimed(func(at time.Time) time.Time { return at.Add(shift) })
	if change != nil {
		ev = change(ev)
	}
	// Two events of one actor and type cannot have begun in the same millisecond; one of another clock may seem to.
	for ev.ID != old.ID && t.bucket(bucketEvents).Get([]byte(ev.ID)) != nil {
		ev = ev.Retimed(func(at time.Time) time.Time { return at.Add(time.Millisecond) })
	}
	body, err := sealEvent(ev, h.sequence)
	if err != nil {
		return err
	}
	last := slices.Clone(t.bucket(bucketOngoing).Get([]byte(old.ID)))
	waits, err := t.rename(old.ID, ev.ID, shift)
	if err != nil {
		return err
	}
	if waits {
		t.bytes += int64(len(body)) - int64(len(t.bucket(bucketEvents).Get([]byte(old.ID))))
	}
	if err := t.forgetChanges([]byte(old.ID)); err != nil {
		return err
	}
	if err := t.erase(old.ID, h); err != nil {
		return err
	}
	if err := t.change(ev, j.opts.Now()); err != nil {
		return err
	}
	if err := t.store(ev, body); err != nil {
		return err
	}
	if len(last) == 8 && ev.Ongoing() {
		return t.bucket(bucketOngoing).Put([]byte(ev.ID), msKey(keyMS(last)+shift.Milliseconds()))
	}
	return nil
}

// rename gives what waits or is parked under an id another one. It says whether it waits.
func (t *txn) rename(old, id string, shift time.Duration) (waits bool, err error) {
	key, entry := t.waitingEntry(old)
	if entry != nil {
		outbox := t.bucket(bucketOutbox)
		entry.ID, entry.Since = id, entry.Since.Add(shift)
		if entry.Revision, err = nextSequence(outbox); err != nil {
			return false, err
		}
		value, err := seal(tagEntry, nil, *entry)
		if err != nil {
			return false, err
		}
		if err := outbox.Put(key, value); err != nil {
			return false, err
		}
		if err := t.bucket(bucketOutboxID).Delete([]byte(old)); err != nil {
			return false, err
		}
		t.queued = true
		return true, t.bucket(bucketOutboxID).Put([]byte(id), key)
	}
	parked := t.bucket(bucketParked)
	value := slices.Clone(parked.Get([]byte(old)))
	if value == nil {
		return false, nil
	}
	if err := parked.Delete([]byte(old)); err != nil {
		return false, err
	}
	return false, parked.Put([]byte(id), value)
}

// forgetChanges takes an event out of the sequence of changes.
func (t *txn) forgetChanges(id []byte) error {
	ids := t.bucket(bucketChangesID)
	p := parseChangePlaces(ids.Get(id))
	for _, place := range []uint64{p.began, p.ended} {
		if place != 0 {
			if err := t.bucket(bucketChanges).Delete(sequenceKey(place)); err != nil {
				return err
			}
		}
	}
	return ids.Delete(id)
}
