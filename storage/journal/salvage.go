package journal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"time"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/journal/boltfile"
	"vmsbridge/storage/journal/form"
)

// salvageBatch is how many values share a transaction of the new file. It is synced once, at the end.
const salvageBatch = 2000

// salvager carries what can be read of a damaged file into a new one.
type salvager struct {
	db     *bolt.DB
	tx     *bolt.Tx
	n      int
	now    time.Time
	damage *Damage

	low         uint64 // events with a lower sequence have left the outbox
	last        uint64 // highest sequence seen
	lastChange  uint64 // highest place in the sequence of changes
	outboxHoles bool   // parts of the outbox may be missing
	stored      int    // events
}

// salvage reads the file at from into a new journal at to, and fills in what d says of it. The indexes are made anew from
// the events. First the tree is walked; where a part of it is missing, every page of the file that looks like a leaf is
// read too. Entries of the outbox that may be among what is missing are made anew from the events' sequences: an event
// may then be reported twice, which replaces it, but none is forgotten.
func salvage(from, to string, now time.Time, d *Damage) (err error) {
	s := &salvager{now: now, damage: d}
	s.db, err = bolt.Open(to, 0o600, &bolt.Options{Timeout: time.Second, NoSync: true, NoGrowSync: true, FreelistType: bolt.FreelistMapType, NoStatistics: true})
	if err != nil {
		return err
	}
	defer func() {
		if s.tx != nil {
			_ = s.tx.Rollback()
		}
		err = errors.Join(err, s.db.Close())
	}()
	if err := s.db.Update(createBuckets); err != nil {
		return err
	}
	if opens(from) {
		err = withFile(from, s.read)
	} else {
		d.LostPages = 1 // all of them, however many there were
	}
	if err != nil {
		return err
	}
	if err := s.commit(); err != nil {
		return err
	}
	return s.db.Sync()
}

func (s *salvager) read(f *boltfile.File, noMeta error) error {
	stray := noMeta != nil || f.Metas() < 2
	if noMeta == nil {
		seqs := f.Sequences()
		s.last = max(s.last, seqs[string(form.Outbox)])
		s.lastChange = max(s.lastChange, seqs[string(form.Changes)])
		// The events come first, so that what refers to them finds them.
		for _, pass := range []func(bucket string, k, v []byte) error{s.event, s.rest} {
			lost, err := f.Walk(func(bucket string, k, v []byte) error { return s.step(pass(bucket, k, v)) })
			if err != nil {
				return err
			}
			s.damage.LostPages = len(lost)
			for _, l := range lost {
				stray = stray || l.Bucket == "" || l.Bucket == string(form.Events) || l.Bucket == string(form.Outbox) || l.Bucket == string(form.Parked)
				s.outboxHoles = s.outboxHoles || l.Bucket == "" || l.Bucket == string(form.Outbox)
			}
		}
	} else {
		s.outboxHoles = true
	}
	if stray {
		for _, pass := range []func(k, v []byte) error{s.strayEvent, s.strayRest} {
			if err := f.Leaves(func(k, v []byte) error { return s.step(pass(k, v)) }); err != nil {
				return err
			}
		}
	}
	if err := s.commit(); err != nil {
		return err
	}
	return s.settle()
}

// step ends one value's work: a transaction is committed now and then.
func (s *salvager) step(err error) error {
	if err != nil {
		return err
	}
	if s.n++; s.n >= salvageBatch {
		return s.commit()
	}
	return nil
}

func (s *salvager) commit() error {
	s.n = 0
	if s.tx == nil {
		return nil
	}
	tx := s.tx
	s.tx = nil
	return tx.Commit()
}

func (s *salvager) txn() (*txn, error) {
	if s.tx == nil {
		tx, err := s.db.Begin(true)
		if err != nil {
			return nil, err
		}
		s.tx = tx
	}
	return &txn{Tx: s.tx}, nil
}

// event takes the events of the tree.
func (s *salvager) event(bucket string, k, v []byte) error {
	switch bucket {
	case string(form.Events):
		return s.keep(k, v, false)
	case string(form.Format):
		if bytes.Equal(k, form.KeyLow) && len(v) == 8 {
			s.low = binary.BigEndian.Uint64(v)
		}
	}
	return nil
}

func (s *salvager) strayEvent(k, v []byte) error {
	if !bytes.Equal(form.BucketOf(v), form.Events) {
		return nil
	}
	return s.keep(k, v, true)
}

// keep stores an event, unless a better version of it is there. Of two versions the one that ended is better, then the
// one with the later end, then the one put into the outbox later; the tree's wins a draw.
func (s *salvager) keep(key, value []byte, stray bool) error {
	ev, h, err := form.ReadEvent(nil, value) // the key has no checksum
	sequence := h.Sequence
	if err == nil {
		ev, err = form.Checked(ev)
	}
	if err != nil {
		if !stray {
			s.damage.DamagedValues++
			s.outboxHoles = true // the version that waited may be another one
		}
		return nil
	}
	s.last = max(s.last, sequence)
	id := []byte(ev.ID)
	if !stray && !bytes.Equal(id, key) {
		s.damage.DamagedValues++
	}
	t, err := s.txn()
	if err != nil {
		return err
	}
	if old, err := form.ReadHead(t.bucket(form.Events).Get(id)); err == nil {
		if h.End == old.End && sequence <= old.Sequence || h.End != old.End && (h.End == form.EndOngoing || old.End != form.EndOngoing && h.End < old.End) {
			return nil
		}
		if err := t.dropStale(ev.ID, old, h); err != nil {
			return err
		}
		sequence = max(sequence, old.Sequence)
	}
	if stray {
		s.damage.Stray++
	}
	body, err := form.SealEvent(ev, sequence)
	if err != nil {
		return nil // cannot be: it was just decoded
	}
	defer func() { s.stored += t.stored }()
	return t.store(ev, body)
}

// rest takes everything of the tree that is not an event or an index.
func (s *salvager) rest(bucket string, k, v []byte) error {
	switch bucket {
	case string(form.Outbox):
		return s.entry(k, v, false)
	case string(form.Parked):
		return s.park(k, v)
	case string(form.Changes):
		return s.change(k, v)
	case string(form.Meta):
		return s.meta(k, v)
	case string(form.Ongoing):
		t, err := s.txn()
		if err != nil {
			return err
		}
		if noted := t.bucket(form.Ongoing).Get(k); noted == nil || len(v) != 8 || form.KeyMS(noted) >= form.KeyMS(v) {
			return nil
		}
		return t.bucket(form.Ongoing).Put(k, v)
	}
	return nil
}

func (s *salvager) strayRest(k, v []byte) error {
	if len(k) == 0 {
		return nil
	}
	switch string(form.BucketOf(v)) {
	case string(form.Outbox):
		return s.entry(k, v, true)
	case string(form.Parked):
		return s.park(k, v)
	case string(form.Meta):
		return s.meta(k, v)
	case string(form.Changes):
		return s.change(k, v)
	}
	return nil
}

func (s *salvager) entry(k, v []byte, stray bool) error {
	var e form.Entry
	if err := e.Read(v); err != nil || len(k) != 8 || e.ID == "" {
		if !stray {
			s.damage.DamagedValues++
			s.outboxHoles = true
		}
		return nil
	}
	sequence := binary.BigEndian.Uint64(k)
	s.last = max(s.last, sequence, e.Revision)
	t, err := s.txn()
	if err != nil {
		return err
	}
	id := []byte(e.ID)
	if stray && sequence < s.low || t.bucket(form.Events).Get(id) == nil || t.bucket(form.OutboxID).Get(id) != nil || t.bucket(form.Outbox).Get(k) != nil {
		return nil
	}
	// An event cannot both wait and be parked; of two stray notes, to report it once more is the safe one.
	if err := t.bucket(form.Parked).Delete(id); err != nil {
		return err
	}
	if err := t.bucket(form.OutboxID).Put(id, k); err != nil {
		return err
	}
	return t.bucket(form.Outbox).Put(k, v)
}

// meta takes a value of the owner's. One that the tree has wins over a stray one.
func (s *salvager) meta(k, v []byte) error {
	t, err := s.txn()
	if err != nil {
		return err
	}
	if _, err := form.ReadOwned(v); err != nil || t.bucket(form.Meta).Get(k) != nil {
		return nil
	}
	return t.bucket(form.Meta).Put(k, v)
}

func (s *salvager) park(id, v []byte) error {
	if err := new(form.ParkedEntry).Read(v); err != nil {
		s.damage.DamagedValues++
		s.outboxHoles = true
		return nil
	}
	t, err := s.txn()
	if err != nil {
		return err
	}
	if t.bucket(form.Events).Get(id) == nil || t.bucket(form.OutboxID).Get(id) != nil {
		return nil
	}
	return t.bucket(form.Parked).Put(id, v)
}

// change takes an entry of the sequence of changes. Those that all cursors are past, which a stray page may hold, go when the
// cursors are opened. An entry that cannot be read is lost to those who follow; the events themselves are not.
func (s *salvager) change(k, v []byte) error {
	var e form.Change
	if err := e.Read(v); err != nil || len(k) != 8 || e.ID == "" {
		s.damage.DamagedValues++
		return nil
	}
	t, err := s.txn()
	if err != nil {
		return err
	}
	place := binary.BigEndian.Uint64(k)
	s.lastChange = max(s.lastChange, place)
	if form.ReadChangePlaces(t.bucket(form.ChangesID).Get([]byte(e.ID))).Newest() >= place {
		return nil // read already, or of an older form
	}
	return t.noteChange(place, e)
}
