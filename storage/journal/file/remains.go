package file

import (
	"bytes"
	"encoding/binary"
	"errors"
	"time"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/boltfile"
	"vmsbridge/storage/guard"
	"vmsbridge/storage/journal/schema"
)

// orderBatch is how many rows share a transaction while they are put in order.
const orderBatch = 2000

// remains is a new file of what is left where the segments do not have all: rows from wherever they
// can be read, which may contradict each other until they are put in order.
type remains struct {
	db               *bolt.DB
	saved            Account
	last, lastChange uint64 // highest sequence seen, and highest place in the sequence of changes
	// parts of the outbox may be missing, or of what is parked
	outboxHoles, parkedHoles bool
}

// gather takes the rows that the tree of the file at from still leads to, and those of its log. If
// ours says so, or nothing of the file can be read, it takes those of the segments first.
func (m *remains) gather(from string, s *segments, ours bool, r *redo) error {
	began, none := false, false
	err := boltfile.Read(from, func(f *boltfile.File, noMeta error) error {
		if began, none = true, noMeta != nil; none {
			return nil
		}
		if ours {
			if err := m.ofSegments(s); err != nil {
				return err
			}
		}
		return m.ofPages(f)
	})
	if !began && (boltfile.Unreadable(err) || isEmpty(from)) {
		none, err = true, nil
	}
	if none {
		m.saved.LostPages = 1 // all of them, however many there were
		err = m.ofSegments(s)
	}
	if r != nil && err == nil {
		_, _, err = r.read(func(rows []byte) error { return replayInto(m.db, rows) })
	}
	return err
}

// ofSegments takes all rows up to a place that cannot be read.
func (m *remains) ofSegments(s *segments) error {
	if s == nil {
		return nil
	}
	m.outboxHoles, m.parkedHoles = true, true
	err := s.read(func(rows []byte) error { return replayInto(m.db, rows) })
	if errors.Is(err, errGap) || errors.Is(err, schema.ErrDamaged) {
		return nil
	}
	return err
}

func (m *remains) ofPages(f *boltfile.File) (err error) {
	var rows []byte
	seqs, lost, err := f.Walk(func(bucket string, k, v []byte) (err error) {
		if rows, err = schema.AppendSound(rows, []byte(bucket), k, v); err != nil {
			m.damaged(bucket)
		}
		if len(rows) < rebuildBytes {
			return nil
		}
		err = replayInto(m.db, rows)
		rows = rows[:0]
		return err
	})
	if err == nil {
		err = replayInto(m.db, rows)
	}
	m.saved.LostPages = len(lost)
	for _, l := range lost {
		m.lose(l.Bucket)
	}
	m.last, m.lastChange = seqs[string(schema.Outbox)], seqs[string(schema.Changes)]
	return err
}

func (m *remains) damaged(bucket string) {
	m.saved.DamagedValues++
	m.lose(bucket)
}

func (m *remains) lose(bucket string) {
	switch bucket {
	case "":
		m.outboxHoles, m.parkedHoles = true, true
	case string(schema.Outbox), string(schema.Events): // the form that waited may be another one
		m.outboxHoles = true
	case string(schema.Parked):
		m.parkedHoles = true
	}
}

// putInOrder makes what is derived from the events anew, and takes away what contradicts them.
// Where entries of the outbox or parked ones may be lost, they are made anew from the events'
// sequences: an event may then be reported twice, which replaces it, but none is forgotten.
func (m *remains) putInOrder(now time.Time) error {
	err := m.db.Update(func(tx *bolt.Tx) (err error) {
		for _, name := range schema.Derived {
			if err = tx.DeleteBucket(name); err == nil {
				_, err = tx.CreateBucket(name)
			}
			if err != nil {
				return err
			}
		}
		return guard.Bucket(tx, schema.Format).Delete(schema.KeyCount)
	})
	// What is referred to comes before what refers to it.
	for _, step := range []struct {
		bucket []byte
		row    func(t *schema.Tx, k, v []byte) (keep bool, err error)
	}{
		{schema.Events, m.event},
		{schema.Ongoing, func(t *schema.Tx, k, v []byte) (bool, error) {
			return len(v) == 8 && t.Bucket(schema.Events).Get(k) != nil, nil
		}},
		{schema.Outbox, m.waiting},
		{schema.Parked, func(t *schema.Tx, k, _ []byte) (bool, error) {
			known := t.Bucket(schema.Events).Get(k) != nil
			m.parkedHoles = m.parkedHoles || !known // the key, which has no checksum, may be another's
			return known && t.Bucket(schema.OutboxID).Get(k) == nil, nil
		}},
		{schema.Changes, m.change},
	} {
		if err == nil {
			err = m.each(step.bucket, step.row)
		}
	}
	if err != nil {
		return err
	}
	var low, refused uint64
	err = m.db.Update(func(tx *bolt.Tx) error {
		outbox, changes := guard.Bucket(tx, schema.Outbox), guard.Bucket(tx, schema.Changes)
		low, refused = schema.Low(tx)
		if err := outbox.SetSequence(max(m.last, outbox.Sequence())); err != nil {
			return err
		}
		return changes.SetSequence(max(m.lastChange, changes.Sequence()))
	})
	if m.parkedHoles && refused != 0 {
		low = min(low, refused)
	}
	if err != nil || !m.outboxHoles && !m.parkedHoles {
		return err
	}
	return m.each(schema.Events, func(t *schema.Tx, k, v []byte) (bool, error) {
		h, err := schema.ReadHead(v)
		if err != nil || h.Sequence == 0 || h.Sequence < low ||
			t.Bucket(schema.OutboxID).Get(k) != nil || t.Bucket(schema.Parked).Get(k) != nil {
			return true, nil
		}
		key := schema.SequenceKey(h.Sequence)
		if t.Bucket(schema.Outbox).Get(key) != nil {
			key = nil // two events claim one place: this one goes to the end
		}
		m.saved.Requeued++
		return true, t.Requeue(string(k), h.Actor.ID, key, now)
	})
}

// each shows row the rows of a bucket, some of them in each transaction, and takes those away that
// are not to be kept.
func (m *remains) each(bucket []byte, row func(t *schema.Tx, k, v []byte) (keep bool, err error)) error {
	for next := []byte{}; next != nil; {
		err := m.db.Update(func(tx *bolt.Tx) error {
			t := schema.New(tx, nil)
			var rows [][2][]byte
			c := t.Bucket(bucket).Cursor()
			k, v := c.Seek(next)
			for ; k != nil && len(rows) < orderBatch; k, v = c.Next() {
				rows = append(rows, [2][]byte{bytes.Clone(k), bytes.Clone(v)})
			}
			next = bytes.Clone(k)
			for _, r := range rows {
				keep, err := row(t, r[0], r[1])
				if err == nil && !keep {
					err = t.Bucket(bucket).Delete(r[0])
				}
				if err != nil {
					return err
				}
			}
			return t.AddEvents(t.Stored)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (m *remains) event(t *schema.Tx, k, v []byte) (keep bool, _ error) {
	ev, h, err := schema.ReadEvent(k, v)
	if err == nil {
		ev, err = schema.Checked(ev)
	}
	if err != nil {
		m.damaged(string(schema.Events))
		return false, nil
	}
	m.last = max(m.last, h.Sequence)
	t.Stored++ // it is there already
	return true, t.Store(ev, v)
}

func (m *remains) waiting(t *schema.Tx, k, v []byte) (keep bool, _ error) {
	var e schema.Entry
	if err := e.Read(v); err != nil || len(k) != 8 || e.ID == "" {
		m.damaged(string(schema.Outbox))
		return false, nil
	}
	m.last = max(m.last, binary.BigEndian.Uint64(k), e.Revision)
	id := []byte(e.ID)
	if t.Bucket(schema.Events).Get(id) == nil || t.Bucket(schema.OutboxID).Get(id) != nil {
		return false, nil
	}
	return true, t.Bucket(schema.OutboxID).Put(id, k)
}

// change sees to an entry of the sequence of changes. One that cannot be read is lost to those who
// follow; the event itself is not.
func (m *remains) change(t *schema.Tx, k, v []byte) (keep bool, _ error) {
	var e schema.Change
	if err := e.Read(v); err != nil || len(k) != 8 || e.ID == "" {
		m.damaged(string(schema.Changes))
		return false, nil
	}
	place := binary.BigEndian.Uint64(k)
	m.lastChange = max(m.lastChange, place)
	return true, t.NoteChange(place, e)
}
