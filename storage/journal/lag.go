package journal

import (
	"encoding/binary"
	"fmt"
	"time"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/guard"
	"vmsbridge/storage/journal/schema"
	"vmsbridge/uplink/vms"
)

// Lag is how far a cursor is behind.
type Lag = vms.Lag

// Lag is how far the cursor is behind, from a place on if its owner is done with everything up to
// that, though it has not noted so; 0 takes what is noted. It walks the keys of what waits.
func (c *Cursor) Lag(after uint64) (l Lag, err error) {
	err = c.of.file.View(func(tx *bolt.Tx) error {
		l = Lag{}
		v, err := schema.CursorOf(tx, c.key)
		if err != nil {
			return err
		}
		after = max(after, v.Place)
		l.Skipped, l.Waiting = v.Skipped, schema.CountChanges(tx, after)
		from := guard.Bucket(tx, schema.Changes).Cursor()
		for k, raw := from.Seek(schema.SequenceKey(after + 1)); k != nil; k, raw = from.Next() {
			var e schema.Change
			if e.Read(raw) == nil {
				l.Oldest = e.Since
				break
			}
		}
		return nil
	})
	if err != nil {
		return Lag{}, fmt.Errorf("read the cursor of %q: %w", c.name, err)
	}
	return l, nil
}

// plausible is a time before which no clock is believed: what was put then by the clock is not old
// for that.
var plausible = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

// Trim gives up changes that were put before a time (the zero time: none) and the oldest of those
// that are more than most (0: none), for this cursor only. It returns how many; they are counted in
// Lag.Skipped for good.
func (c *Cursor) Trim(most int, before time.Time) (skipped int, err error) {
	aged := func(since time.Time) bool { return since.Before(before) && !since.Before(plausible) }
	if l, err := c.Lag(0); err != nil || (most <= 0 || l.Waiting <= most) && !aged(l.Oldest) {
		return 0, err
	}
	_, err = c.move(func(t *schema.Tx, v *schema.Cursor) error {
		skipped = 0
		over := 0
		if most > 0 {
			over = schema.CountChanges(t.Tx, v.Place) - most
		}
		from := t.Bucket(schema.Changes).Cursor()
		for k, raw := from.Seek(schema.SequenceKey(v.Place + 1)); len(k) == 8; k, raw = from.Next() {
			var e schema.Change
			if err := e.Read(raw); err == nil && skipped >= over && !aged(e.Since) {
				break
			}
			v.Place = binary.BigEndian.Uint64(k)
			v.Skipped++
			skipped++
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("trim the changes for %q: %w", c.name, err)
	}
	return skipped, nil
}
