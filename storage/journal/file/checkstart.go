package file

import (
	"bytes"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/boltfile"
	"vmsbridge/storage/guard"
	"vmsbridge/storage/journal/schema"
)

// checkPages reads the whole file: its structure, the checksums of its values, and whether the
// indexes and the outbox agree with the events. tx keeps the pages in place.
func checkPages(tx *bolt.Tx) error {
	return boltfile.Read(tx.DB().Path(), func(f *boltfile.File, err error) error {
		if err != nil {
			return guard.Damaged(err)
		}
		found, err := inspect(f, nil)
		if err == nil && !found.Clean() {
			err = guard.Damaged(found.Problems[0])
		}
		return err
	})
}

// formOf says whether the file is new, and whether it was closed in good order; it refuses a newer
// form.
func formOf(tx *bolt.Tx) (fresh, clean bool, err error) {
	if tx.Bucket(schema.Format) == nil {
		if name, _ := tx.Cursor().First(); name != nil {
			return false, false, guard.Damaged("it is a database, but not a journal")
		}
		return true, false, nil
	}
	format := guard.Bucket(tx, schema.Format)
	switch v := format.Get(schema.KeyVersion); {
	case len(v) != 1 || v[0] == 0:
		return false, false, guard.Damaged("it has no version")
	case v[0] > schema.VersionLogged:
		return false, false, fmt.Errorf("%w (its form is %d, known is %d)", schema.ErrNewer, v[0], schema.VersionLogged)
	case v[0] < schema.Version:
		return false, false, schema.ErrOlder
	}
	for _, name := range schema.Buckets {
		if tx.Bucket(name) == nil {
			return false, false, guard.Damaged(fmt.Sprintf("bucket %q is missing", name))
		}
	}
	return false, format.Get(schema.KeyClean) != nil, nil
}

// checkOutbox looks through what matters most at every start: each entry of the outbox and each
// parked one has its event.
func checkOutbox(tx *bolt.Tx) error {
	var r Report
	r.compareQueues(tx)
	if r.Clean() {
		return nil
	}
	return guard.Damaged(r.Problems[0])
}

// compareQueues looks each event up that waits or is parked.
func (r *Report) compareQueues(tx *bolt.Tx) {
	events, ids := guard.Bucket(tx, schema.Events), guard.Bucket(tx, schema.OutboxID)
	n := 0
	_ = guard.Bucket(tx, schema.Outbox).ForEach(func(k, v []byte) error {
		n++
		var e schema.Entry
		switch err := e.Read(v); {
		case err != nil:
			r.Addf("entry %x of the outbox: %v", k, err)
		case !bytes.Equal(ids.Get([]byte(e.ID)), k):
			r.Addf("entry %x of the outbox is not the one of %q", k, e.ID)
		case events.Get([]byte(e.ID)) == nil:
			r.Addf("entry %x of the outbox: event %q is missing", k, e.ID)
		}
		return nil
	})
	if m := schema.Keys(ids); m != n {
		r.Addf("%d entries in the outbox, %d ids", n, m)
	}
	_ = guard.Bucket(tx, schema.Parked).ForEach(func(id, v []byte) error {
		if err := new(schema.ParkedEntry).Read(v); err != nil {
			r.Addf("parked %q: %v", id, err)
		} else if events.Get(id) == nil {
			r.Addf("parked %q: the event is missing", id)
		}
		return nil
	})
}

// compare looks for contradictions that only show across buckets, where all can be read.
func (r *Report) compare(tx *bolt.Tx) {
	r.compareQueues(tx)
	ids := guard.Bucket(tx, schema.OutboxID)
	_ = guard.Bucket(tx, schema.Parked).ForEach(func(id, _ []byte) error {
		if ids.Get(id) != nil {
			r.Addf("event %q both waits and is parked", id)
		}
		return nil
	})
}
