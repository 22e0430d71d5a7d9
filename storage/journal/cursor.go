package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/journal/form"
	"vmsbridge/storage/journal/guard"
	"vmsbridge/storage/journal/table"
	"vmsbridge/storage/journal/vault"
	"vmsbridge/uplink/vms"
)

// Change is an event as one who follows the journal is to learn of it: the event as it is now, not as it was then. Who wants
// every event once leaves out what is not Newest. It is an alias of its fields, as in uplink/home, where a Cursor is a feed.
type Change = struct {
	Place  uint64    // in the sequence: later changes have higher places, and no place is given twice
	Event  vms.Event // as it is now
	Began  bool      // it had no end when it was put
	Newest bool      // no later change of the event follows
	Since  time.Time // when it was put
	Untrue bool      // its times, and so its id, are not right yet: see PutProvisional
}

// Cursor reads all events that are put, from the moment on when its name was first given to Cursors, in the order in which
// they were put, whether they wait in the outbox or not. What it has not passed is kept for it (Prune leaves such events
// alone), so someone must call Trim now and then. Its methods are safe for concurrent use.
type Cursor struct {
	j       *Journal
	name    string
	key     []byte
	changed chan struct{}
	// skipped is what the file says, for metrics.
	skipped atomic.Uint64
}

// Cursors opens the cursors of these names, in their order, and forgets all others, durably. A new one stands behind
// everything that was put so far. Without names, no sequence of changes is kept. Call it once after Open; what is put before
// that is kept for the cursors of last time.
func (j *Journal) Cursors(names ...string) ([]*Cursor, error) {
	list := make([]*Cursor, len(names))
	for i, name := range names {
		if name == "" || len(name) > 256 || slices.Contains(names[:i], name) {
			return nil, fmt.Errorf("open cursor %q: it needs a name of its own, of at most 256 bytes", name)
		}
		list[i] = &Cursor{j: j, name: name, key: form.CursorKey(name), changed: make(chan struct{}, 1)}
	}
	left := true
	for left {
		err := j.file.Do(func(t *table.Tx) error {
			known, err := table.Cursors(t.Tx)
			if err != nil {
				return err
			}
			end := table.LastChange(t.Tx)
			for _, v := range known {
				end = max(end, v.Place)
			}
			for key := range known {
				if !slices.Contains(names, strings.TrimPrefix(key, form.CursorPrefix)) {
					if err := t.Bucket(form.Meta).Delete([]byte(key)); err != nil {
						return err
					}
				}
			}
			for _, c := range list {
				v, ok := known[string(c.key)]
				if !ok {
					v.Place = end
					if err := t.SetCursor(c.key, v); err != nil {
						return err
					}
				}
				c.skipped.Store(v.Skipped)
			}
			if err := t.Consume(); err != nil {
				return err
			}
			first, _ := t.Bucket(form.Changes).Cursor().First()
			left = first != nil && len(names) == 0
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("open the cursors: %w", err)
		}
	}
	j.stateMu.Lock()
	defer j.stateMu.Unlock()
	j.cursors = list
	for _, c := range list {
		c.signal()
	}
	return list, nil
}

// follows says whether the latest call of Cursors asked for c.
func (j *Journal) follows(c *Cursor) bool {
	j.stateMu.Lock()
	defer j.stateMu.Unlock()
	return slices.Contains(j.cursors, c)
}

func (c *Cursor) signal() {
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

// Name is the cursor's.
func (c *Cursor) Name() string { return c.name }

// Now is the clock of Change.Since: Options.Now.
func (c *Cursor) Now() time.Time { return c.j.opts.Now() }

// Changed has a value after an event was put, and at first. One value may stand for many changes.
func (c *Cursor) Changed() <-chan struct{} { return c.changed }

// Read is up to n changes behind a place, in order; 0 is where the cursor stands. An event that is gone or damaged is left out,
// so fewer than n do not mean that there are no more; none does.
func (c *Cursor) Read(after uint64, n int) (list []Change, err error) {
	err = c.j.file.View(func(tx *bolt.Tx) error {
		list = nil
		v, err := table.Cursor(tx, c.key)
		if err != nil {
			return err
		}
		events, ids, notes := guard.Bucket(tx, form.Events), guard.Bucket(tx, form.ChangesID), guard.Bucket(tx, form.Meta)
		from := guard.Bucket(tx, form.Changes).Cursor()
		for k, raw := from.Seek(form.SequenceKey(max(after, v.Place) + 1)); len(k) == 8 && len(list) < n; k, raw = from.Next() {
			var e form.Change
			if err := e.Read(raw); err != nil {
				c.j.metrics.damaged.Inc()
				continue
			}
			stored := events.Get([]byte(e.ID))
			if stored == nil {
				continue
			}
			ev, _, err := form.ReadEvent([]byte(e.ID), stored)
			if err != nil {
				c.j.metrics.damaged.Inc()
				continue
			}
			place := binary.BigEndian.Uint64(k)
			newest := form.ReadChangePlaces(ids.Get([]byte(e.ID))).Newest() <= place
			list = append(list, Change{Place: place, Event: ev, Began: e.Began, Newest: newest, Since: e.Since,
				Untrue: notes.Get(form.UntrueKey(e.ID)) != nil})
		}
		return nil
	})
	if errors.Is(err, table.ErrNoCursor) {
		_, err = c.move(func(*table.Tx, *form.Cursor) error { return nil })
	}
	if err != nil {
		return nil, fmt.Errorf("read changes for %q: %w", c.name, err)
	}
	return list, nil
}

// Advance notes, durably, that everything up to a place was dealt with. A place that is passed already changes nothing.
func (c *Cursor) Advance(place uint64) error {
	_, err := c.move(func(_ *table.Tx, v *form.Cursor) error { v.Place = max(v.Place, place); return nil })
	if err != nil {
		return fmt.Errorf("advance the cursor of %q: %w", c.name, err)
	}
	return nil
}

// move changes what the file says of the cursor, and takes away what nobody needs any more.
func (c *Cursor) move(change func(t *table.Tx, v *form.Cursor) error) (v form.Cursor, err error) {
	err = c.j.file.Do(func(t *table.Tx) error {
		v, err = table.Cursor(t.Tx, c.key)
		lost := errors.Is(err, table.ErrNoCursor) && c.j.follows(c)
		if lost {
			v, err = form.Cursor{Place: table.LastChange(t.Tx), Skipped: c.skipped.Load()}, nil // a recovery from damage did not find it
		}
		if err != nil {
			return vault.Refuse(err)
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
