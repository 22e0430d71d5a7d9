package journal

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"time"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/guard"
	"vmsbridge/storage/journal/schema"
	"vmsbridge/uplink/vms"
)

// Again says which events are to be reported once more. Those that wait or are parked are never
// among them.
type Again struct {
	// From and Upto are places in the outbox: events that entered it last at or after From, and
	// before Upto. Upto 0: wherever.
	From, Upto uint64
	// Since and Until are times: events that had not ended before Since and began no later than
	// Until. Zero: any.
	Since, Until time.Time
}

// lookAtMost bounds the events that one read transaction looks at.
const lookAtMost = 4096

// Again puts events that have left the outbox at its end once more: up to n of them, behind the id
// after, in the order of their ids. It says how many, and where to go on, "" at the end. One that
// entered so is no longer among those before the places' Upto, if that was LastPlace's next:
// whoever begins anew does not double them. It reads the events' heads, some hundred thousand a
// second.
func (j *Journal) Again(w Again, after string, n int) (queued int, next string, err error) {
	ids, next, err := j.gone(w, after, n)
	if err == nil && len(ids) > 0 {
		err = j.file.Do(func(t *schema.Tx) error {
			queued = 0
			for _, id := range ids {
				if t.Bucket(schema.OutboxID).Get(id) != nil || t.Bucket(schema.Parked).Get(id) != nil {
					continue // in the meantime
				}
				ev, _, err := schema.ReadEvent(id, t.Bucket(schema.Events).Get(id))
				if err != nil {
					continue // pruned, or damaged, which is told elsewhere
				}
				if err := j.queue(t, ev); err != nil {
					return err
				}
				queued++
			}
			return nil
		})
	}
	if err != nil {
		return 0, after, fmt.Errorf("report events again: %w", err)
	}
	return queued, next, nil
}

// gone finds events that have left the outbox.
func (j *Journal) gone(w Again, after string, n int) (ids [][]byte, next string, err error) {
	err = j.file.View(func(tx *bolt.Tx) error {
		ids, next = nil, ""
		looked := 0
		c := guard.Bucket(tx, schema.Events).Cursor()
		k, v := c.First()
		if after != "" {
			if k, v = c.Seek([]byte(after)); string(k) == after {
				k, v = c.Next()
			}
		}
		for ; k != nil; k, v = c.Next() {
			if looked++; len(ids) == n || looked > lookAtMost {
				return nil
			}
			next = string(k)
			if h, err := schema.ReadHead(v); err == nil && w.has(h) &&
				guard.Bucket(tx, schema.OutboxID).Get(k) == nil && guard.Bucket(tx, schema.Parked).Get(k) == nil {
				ids = append(ids, bytes.Clone(k))
			}
		}
		next = ""
		return nil
	})
	return ids, next, err
}

func (w Again) has(h schema.Head) bool {
	switch {
	case w.Upto > 0 && (h.Sequence < max(w.From, 1) || h.Sequence >= w.Upto):
		return false
	case !w.Since.IsZero() && h.End < w.Since.UnixMilli():
		return false
	case !w.Until.IsZero() && h.Start > w.Until.UnixMilli():
		return false
	}
	return true
}

// queue puts an event that does not wait at the end of the outbox.
func (j *Journal) queue(t *schema.Tx, ev vms.Event) error {
	sequence, err := t.Enqueue(ev, j.opts.Now())
	if err != nil {
		return err
	}
	body, err := schema.SealEvent(ev, sequence)
	if err != nil {
		return err
	}
	t.Bytes += int64(len(body))
	return t.Bucket(schema.Events).Put([]byte(ev.ID), body)
}

// Low is a place such that every event that entered the outbox before it has left it.
func (j *Journal) Low() (place uint64, err error) {
	err = j.file.View(func(tx *bolt.Tx) error {
		outbox := guard.Bucket(tx, schema.Outbox)
		if first, _ := outbox.Cursor().First(); len(first) == 8 {
			place = binary.BigEndian.Uint64(first)
		} else {
			place = outbox.Sequence() + 1
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("read the outbox: %w", err)
	}
	return place, nil
}
