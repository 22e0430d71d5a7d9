package file

import (
	"errors"
	"os"
	"time"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/boltfile"
	"vmsbridge/storage/journal/schema"
)

// salvageBatch is how many values share a transaction of the new file. It is synced once, at the
// end.
const salvageBatch = 2000

// salvager carries what can be read of a damaged file into a new one.
type salvager struct {
	db    *bolt.DB
	tx    *bolt.Tx
	n     int
	now   time.Time
	saved Account

	low         uint64 // events with a lower sequence have left the outbox
	refused     uint64 // events with a lower sequence are not parked; 0: none is, or it is not known
	last        uint64 // highest sequence seen
	lastChange  uint64 // highest place in the sequence of changes
	outboxHoles bool   // parts of the outbox may be missing
	parkedHoles bool   // and of what is parked
	stored      int    // events
	witness     witness
}

// salvage reads the file at from into a new journal at to, which it syncs, and gives an account of
// it. The indexes are made anew from the events. First the tree is walked; where a part of it is
// missing, every page of the file that looks like a leaf is read too. Entries of the outbox that
// may be among what is missing, and of parked events, are made anew from the events' sequences: an
// event may then be reported twice, which replaces it, but none is forgotten.
func salvage(from, to string, now time.Time) (_ Account, err error) {
	s := &salvager{now: now}
	s.db, err = bolt.Open(to, 0o600, &bolt.Options{Timeout: time.Second, NoSync: true, NoGrowSync: true,
		FreelistType: bolt.FreelistMapType, NoStatistics: true})
	if err != nil {
		return s.saved, err
	}
	defer func() {
		if s.tx != nil {
			_ = s.tx.Rollback()
		}
		err = errors.Join(err, s.db.Close())
	}()
	if err := s.db.Update(schema.Create); err != nil {
		return s.saved, err
	}
	if opens(from) {
		err = boltfile.Read(from, s.read)
	} else {
		s.saved.LostPages = 1 // all of them, however many there were
	}
	if err != nil {
		return s.saved, err
	}
	if err := s.commit(); err != nil {
		return s.saved, err
	}
	return s.saved, s.db.Sync()
}

func (s *salvager) read(f *boltfile.File, noMeta error) error {
	stray := noMeta != nil || f.Metas() < 2
	if noMeta == nil {
		seqs := f.Sequences()
		s.witness.sequence, s.witness.tree = seqs[string(schema.Outbox)], true
		s.last = max(s.last, seqs[string(schema.Outbox)])
		s.lastChange = max(s.lastChange, seqs[string(schema.Changes)])
		// The events come first, so that what refers to them finds them.
		for i, pass := range []func(bucket string, k, v []byte) error{s.event, s.rest} {
			lost, err := f.Walk(func(bucket string, k, v []byte) error { return s.step(pass(bucket, k, v)) })
			if err != nil {
				return err
			}
			s.saved.LostPages = len(lost)
			for _, l := range lost {
				stray = stray || l.Bucket == "" || l.Bucket == string(schema.Events) ||
					l.Bucket == string(schema.Outbox) || l.Bucket == string(schema.Parked)
				s.outboxHoles = s.outboxHoles || l.Bucket == "" || l.Bucket == string(schema.Outbox)
				s.parkedHoles = s.parkedHoles || l.Bucket == "" || l.Bucket == string(schema.Parked)
			}
			if i == 0 && stray {
				s.witness.choose(seqs, lost, f.Metas())
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

func (s *salvager) txn() (*schema.Tx, error) {
	if s.tx == nil {
		tx, err := s.db.Begin(true)
		if err != nil {
			return nil, err
		}
		s.tx = tx
	}
	return schema.New(s.tx, nil), nil
}

// opens says whether there is anything to read.
func opens(path string) bool {
	f, err := os.Open(path)
	if err == nil {
		_ = f.Close()
	}
	return !boltfile.Unreadable(err)
}
