package follow

import (
	"fmt"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/guard"
	"vmsbridge/storage/journal/form"
	"vmsbridge/storage/journal/table"
	"vmsbridge/uplink/vms"
)

// Lag is how far a cursor is behind.
type Lag = vms.Lag

// Lag is how far the cursor is behind, from a place on if its owner is done with everything up to
// that, though it has not noted so; 0 takes what is noted. It walks the keys of what waits.
func (c *Cursor) Lag(after uint64) (l Lag, err error) {
	err = c.of.file.View(func(tx *bolt.Tx) error {
		l = Lag{}
		v, err := table.Cursor(tx, c.key)
		if err != nil {
			return err
		}
		after = max(after, v.Place)
		l.Skipped, l.Waiting = v.Skipped, table.CountChanges(tx, after)
		from := guard.Bucket(tx, form.Changes).Cursor()
		for k, raw := from.Seek(form.SequenceKey(after + 1)); k != nil; k, raw = from.Next() {
			var e form.Change
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
