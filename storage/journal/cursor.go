package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/guard"
	"vmsbridge/storage/journal/file"
	"vmsbridge/storage/journal/schema"
	"vmsbridge/uplink/vms"
)

// Change is an event as one who follows the journal is to learn of it: the event as it is now, not
// as it was then. Who wants every event once leaves out what is not Newest.
type Change = vms.Queued

// Cursor reads all events that are put, from the moment on when its name was first given to
// Cursors, in the order in which they were put, whether they wait in the outbox or not. What it has
// not passed is kept for it (Prune leaves such events alone), so someone must call Trim now and
// then. Its methods are safe for concurrent use.
type Cursor struct {
	of      *Journal
	name    string
	key     []byte
	changed chan struct{}
	// skipped is what the file says, for metrics.
	skipped atomic.Uint64
}

func (c *Cursor) signal() {
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

// Name is the cursor's.
func (c *Cursor) Name() string { return c.name }

// Now is the clock of Change.Since.
func (c *Cursor) Now() time.Time { return c.of.opts.Now() }

// Changed has a value after an event was put, and at first. One value may stand for many changes.
func (c *Cursor) Changed() <-chan struct{} { return c.changed }

// Read is up to n changes behind a place, in order; 0 is where the cursor stands. An event that is
// gone or damaged is left out, so fewer than n do not mean that there are no more; none does.
func (c *Cursor) Read(after uint64, n int) (list []Change, err error) {
	err = c.of.file.View(func(tx *bolt.Tx) error {
		list = nil
		v, err := schema.CursorOf(tx, c.key)
		if err != nil {
			return err
		}
		events, ids, notes := guard.Bucket(tx, schema.Events), guard.Bucket(tx, schema.ChangesID),
			guard.Bucket(tx, schema.Meta)
		from := guard.Bucket(tx, schema.Changes).Cursor()
		for k, raw := from.Seek(schema.SequenceKey(max(after, v.Place) + 1)); len(k) == 8 &&
			len(list) < n; k, raw = from.Next() {
			var e schema.Change
			if err := e.Read(raw); err != nil {
				c.of.metrics.damaged.Inc()
				continue
			}
			stored := events.Get([]byte(e.ID))
			if stored == nil {
				continue
			}
			ev, _, err := schema.ReadEvent([]byte(e.ID), stored)
			if err != nil {
				c.of.metrics.damaged.Inc()
				continue
			}
			place := binary.BigEndian.Uint64(k)
			newest := schema.ReadChangePlaces(ids.Get([]byte(e.ID))).Newest() <= place
			list = append(list, Change{Place: place, Event: ev, Began: e.Began, Newest: newest, Since: e.Since,
				Untrue: notes.Get(schema.UntrueKey(e.ID)) != nil})
		}
		return nil
	})
	if errors.Is(err, schema.ErrNoCursor) {
		_, err = c.move(func(*schema.Tx, *schema.Cursor) error { return nil })
	}
	if err != nil {
		return nil, fmt.Errorf("read changes for %q: %w", c.name, err)
	}
	return list, nil
}

// Place is where the cursor stands: what was put up to there it has passed, or it was trimmed.
func (c *Cursor) Place() (place uint64, err error) {
	err = c.of.file.View(func(tx *bolt.Tx) error {
		v, err := schema.CursorOf(tx, c.key)
		place = v.Place
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("read the cursor of %q: %w", c.name, err)
	}
	return place, nil
}

// Advance notes, durably, that everything up to a place was dealt with. A place that is passed
// already changes nothing.
func (c *Cursor) Advance(place uint64) error {
	_, err := c.move(func(_ *schema.Tx, v *schema.Cursor) error { v.Place = max(v.Place, place); return nil })
	if err != nil {
		return fmt.Errorf("advance the cursor of %q: %w", c.name, err)
	}
	return nil
}

// move changes what the file says of the cursor, and takes away what nobody needs any more.
func (c *Cursor) move(change func(t *schema.Tx, v *schema.Cursor) error) (v schema.Cursor, err error) {
	err = c.of.file.Do(func(t *schema.Tx) error {
		v, err = schema.CursorOf(t.Tx, c.key)
		lost := errors.Is(err, schema.ErrNoCursor) && slices.Contains(c.of.openCursors(), c)
		if lost {
			// a recovery from damage did not find it
			v, err = schema.Cursor{Place: schema.LastChange(t.Tx), Skipped: c.skipped.Load()}, nil
		}
		if err != nil {
			return file.Refuse(err)
		}
		was := v
		if err := change(t, &v); err != nil || v == was && !lost {
			return err
		}
		if err := t.SetCursor(c.key, v); err != nil {
			return err
		}
		return t.Consume()
	})
	if err == nil {
		c.skipped.Store(v.Skipped)
	}
	return v, err
}
