package follow

import (
	"encoding/binary"
	"fmt"
	"time"

	"vmsbridge/storage/journal/form"
	"vmsbridge/storage/journal/table"
)

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
	_, err = c.move(func(t *table.Tx, v *form.Cursor) error {
		skipped = 0
		over := 0
		if most > 0 {
			over = table.CountChanges(t.Tx, v.Place) - most
		}
		from := t.Bucket(form.Changes).Cursor()
		for k, raw := from.Seek(form.SequenceKey(v.Place + 1)); len(k) == 8; k, raw = from.Next() {
			var e form.Change
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
