package file

import (
	"bytes"
	"encoding/binary"
	"time"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/boltfile"
	"vmsbridge/storage/guard"
	"vmsbridge/storage/journal/schema"
	"vmsbridge/uplink/vms"
)

// salvageBatch is how many rows share a transaction of the new file.
const salvageBatch = 2000

// salvager carries what the tree of a damaged file still leads to into a new one. It is for files
// without segments: those of older builds, and those that were changed without a log.
type salvager struct {
	db    *bolt.DB
	tx    *bolt.Tx // nil: none is under way
	n     int
	saved Account

	low, refused     uint64 // as the file's keys of these names
	last, lastChange uint64 // highest sequence seen, and highest place in the sequence of changes
	stored           int    // events
	// parts of the outbox may be missing, or of what is parked
	outboxHoles, parkedHoles bool
}

// salvage puts into the new, empty file db what can be read of the one at from, and gives an
// account of what was lost. The indexes are made anew from the events. Where entries of the outbox
// or parked ones may be lost, they are made anew from the events' sequences: an event may then be
// reported twice, which replaces it, but none is forgotten.
func salvage(from string, db *bolt.DB, now time.Time) (Account, error) {
	s := &salvager{db: db}
	defer func() {
		if s.tx != nil {
			_ = s.tx.Rollback()
		}
	}()
	began := false
	err := boltfile.Read(from, func(f *boltfile.File, noMeta error) error {
		if began = true; noMeta != nil {
			s.saved.LostPages = 1 // all of them, however many there were
			return nil
		}
		return s.read(f, now)
	})
	if !began && boltfile.Unreadable(err) {
		s.saved.LostPages, err = 1, nil
	}
	return s.saved, err
}

func (s *salvager) read(f *boltfile.File, now time.Time) error {
	seqs := f.Sequences()
	s.last, s.lastChange = seqs[string(schema.Outbox)], seqs[string(schema.Changes)]
	// The buckets come by name: events before what refers to them.
	lost, err := f.Walk(func(bucket string, k, v []byte) error {
		rows, err := s.rows()
		if err != nil {
			return err
		}
		return s.row(rows, bucket, k, v)
	})
	if err != nil {
		return err
	}
	s.saved.LostPages = len(lost)
	for _, l := range lost {
		s.outboxHoles = s.outboxHoles || l.Bucket == "" || l.Bucket == string(schema.Outbox)
		s.parkedHoles = s.parkedHoles || l.Bucket == "" || l.Bucket == string(schema.Parked)
	}
	rows, err := s.rows()
	if err == nil {
		err = s.settle(rows)
	}
	if err == nil {
		err = s.commit()
	}
	from := s.low
	if s.parkedHoles && s.refused != 0 {
		from = min(from, s.refused)
	}
	if err == nil && (s.outboxHoles || s.parkedHoles) {
		err = s.requeue(from, now)
	}
	return err
}

// rows is the transaction of the next row.
func (s *salvager) rows() (*schema.Tx, error) {
	if s.n++; s.n%salvageBatch == 0 {
		if err := s.commit(); err != nil {
			return nil, err
		}
	}
	var err error
	if s.tx == nil {
		s.tx, err = s.db.Begin(true)
	}
	return schema.New(s.tx, nil), err
}

func (s *salvager) commit() error {
	tx := s.tx
	s.tx = nil
	return tx.Commit()
}

// row takes one that can be read, and counts one that cannot.
func (s *salvager) row(t *schema.Tx, bucket string, k, v []byte) (err error) {
	switch bucket {
	case string(schema.Events):
		return s.event(t, k, v)
	case string(schema.Format):
		for _, c := range []struct {
			key  []byte
			into *uint64
		}{{schema.KeyLow, &s.low}, {schema.KeyRefused, &s.refused}} {
			if bytes.Equal(k, c.key) && len(v) == 8 {
				*c.into = binary.BigEndian.Uint64(v)
			}
		}
	case string(schema.Meta):
		if _, err := schema.ReadOwned(v); err == nil {
			return t.Bucket(schema.Meta).Put(k, v)
		}
	case string(schema.Ongoing):
		if noted := t.Bucket(schema.Ongoing).Get(k); len(noted) == 8 && len(v) == 8 {
			return t.Bucket(schema.Ongoing).Put(k, v)
		}
	case string(schema.Outbox):
		return s.waiting(t, k, v)
	case string(schema.Parked):
		if err := new(schema.ParkedEntry).Read(v); err != nil {
			s.saved.DamagedValues++
			s.parkedHoles = true
		} else if t.Bucket(schema.Events).Get(k) != nil && t.Bucket(schema.OutboxID).Get(k) == nil {
			return t.Bucket(schema.Parked).Put(k, v)
		}
	case string(schema.Changes):
		return s.change(t, k, v)
	}
	return nil
}

func (s *salvager) event(t *schema.Tx, k, v []byte) error {
	ev, h, err := schema.ReadEvent(nil, v) // the key has no checksum
	if err == nil {
		ev, err = schema.Checked(ev)
	}
	if err != nil || ev.ID != string(k) {
		s.saved.DamagedValues++
	}
	if err != nil {
		s.outboxHoles = true // the form that waited may be another one
		return nil
	}
	s.last = max(s.last, h.Sequence)
	if t.Bucket(schema.Events).Get([]byte(ev.ID)) != nil {
		return nil
	}
	return s.store(t, ev, h.Sequence)
}

func (s *salvager) store(t *schema.Tx, ev vms.Event, sequence uint64) error {
	body, err := schema.SealEvent(ev, sequence)
	if err != nil {
		return nil // cannot be: it was just decoded
	}
	s.stored++
	return t.Store(ev, body)
}

func (s *salvager) waiting(t *schema.Tx, k, v []byte) error {
	var e schema.Entry
	if err := e.Read(v); err != nil || len(k) != 8 || e.ID == "" {
		s.saved.DamagedValues++
		s.outboxHoles = true
		return nil
	}
	s.last = max(s.last, binary.BigEndian.Uint64(k), e.Revision)
	id := []byte(e.ID)
	if t.Bucket(schema.Events).Get(id) == nil || t.Bucket(schema.OutboxID).Get(id) != nil {
		return nil
	}
	if err := t.Bucket(schema.OutboxID).Put(id, k); err != nil {
		return err
	}
	return t.Bucket(schema.Outbox).Put(k, v)
}

// change takes an entry of the sequence of changes. One that cannot be read is lost to those who
// follow; the event itself is not.
func (s *salvager) change(t *schema.Tx, k, v []byte) error {
	var e schema.Change
	if err := e.Read(v); err != nil || len(k) != 8 || e.ID == "" {
		s.saved.DamagedValues++
		return nil
	}
	place := binary.BigEndian.Uint64(k)
	s.lastChange = max(s.lastChange, place)
	if schema.ReadChangePlaces(t.Bucket(schema.ChangesID).Get([]byte(e.ID))).Newest() >= place {
		return nil
	}
	return t.NoteChange(place, e)
}

// settle sets the sequences beyond all that were given out, and what the file notes of itself.
func (s *salvager) settle(t *schema.Tx) error {
	if err := t.Bucket(schema.Outbox).SetSequence(s.last); err != nil {
		return err
	}
	if err := t.Bucket(schema.Changes).SetSequence(s.lastChange); err != nil {
		return err
	}
	if err := t.AddEvents(s.stored); err != nil {
		return err
	}
	if s.refused != 0 {
		if err := t.Bucket(schema.Format).Put(schema.KeyRefused, schema.SequenceKey(s.refused)); err != nil {
			return err
		}
	}
	return t.Bucket(schema.Format).Put(schema.KeyLow, schema.SequenceKey(s.low))
}

// requeue puts every event from a sequence on that may have waited back into the outbox, at its old
// place.
func (s *salvager) requeue(from uint64, now time.Time) error {
	for next := []byte{}; next != nil; {
		err := s.db.Update(func(tx *bolt.Tx) error {
			t, n := schema.New(tx, nil), 0
			c := guard.Bucket(tx, schema.Events).Cursor()
			for k, v := c.Seek(next); k != nil; k, v = c.Next() {
				if n++; n > salvageBatch {
					next = bytes.Clone(k)
					return nil
				}
				h, err := schema.ReadHead(v)
				if err != nil || h.Sequence == 0 || h.Sequence < from ||
					t.Bucket(schema.OutboxID).Get(k) != nil || t.Bucket(schema.Parked).Get(k) != nil {
					continue
				}
				key := schema.SequenceKey(h.Sequence)
				if t.Bucket(schema.Outbox).Get(key) != nil {
					key = nil // two events claim one place: this one goes to the end
				}
				if err := t.Requeue(string(k), h.Actor.ID, key, now); err != nil {
					return err
				}
				s.saved.Requeued++
			}
			next = nil
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
