package file

import (
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
		if all := found.all(); err == nil && len(all) > 0 {
			err = guard.Damaged(all[0])
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
	events, ids := guard.Bucket(tx, schema.Events), guard.Bucket(tx, schema.OutboxID)
	n := 0
	err := guard.Bucket(tx, schema.Outbox).ForEach(func(k, v []byte) error {
		var e schema.Entry
		if err := e.Read(v); err != nil {
			return guard.Damaged(fmt.Sprintf("entry %x of the outbox: %v", k, err))
		}
		if string(ids.Get([]byte(e.ID))) != string(k) || events.Get([]byte(e.ID)) == nil {
			return guard.Damaged(fmt.Sprintf("entry %x of the outbox: event %q or its number is missing", k, e.ID))
		}
		n++
		return nil
	})
	if err != nil {
		return err
	}
	m := 0
	_ = ids.ForEach(func(_, _ []byte) error { m++; return nil })
	if m != n {
		return guard.Damaged(fmt.Sprintf("%d entries in the outbox, %d ids", n, m))
	}
	return guard.Bucket(tx, schema.Parked).ForEach(func(k, v []byte) error {
		if err := new(schema.ParkedEntry).Read(v); err != nil || events.Get(k) == nil {
			return guard.Damaged(fmt.Sprintf("parked event %q: it or its event is missing or damaged", k))
		}
		return nil
	})
}
