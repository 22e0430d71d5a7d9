package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/database"
	"vmsbridge/uplink/identity/model"
)

// fileName is what people call the file.
const fileName = "identity file"

// volatile are buckets of what people can get again: they sign in anew, ask for another link. The
// trail is too long to be kept twice.
var volatile = []string{bucketSessions, bucketOpen, bucketTickets, bucketHeld, bucketAttempts, bucketTrail,
	bucketTrailIndex, bucketMessages}

// derived are buckets that rebuild makes of the others.
var derived = []string{bucketEmails, bucketMembers, bucketChildren, bucketShares, bucketOpen, bucketHeld,
	bucketTrailIndex}

// options say what there is to know of the file for those who open, check or repair it.
func options(o Options) database.Options {
	return database.Options{
		Name: fileName, Buckets: names(buckets), NoSync: o.Volatile, Now: o.Now, Log: o.Log, OnDamage: o.OnDamage,
		Copied: func(bucket string) bool {
			return !slices.Contains(volatile, bucket) && !slices.Contains(derived, bucket)
		},
		Sound: sound, Agree: agree, Rebuild: rebuild,
	}
}

// names are the names of buckets as a file has them.
func names(buckets []string) [][]byte {
	out := make([][]byte, len(buckets))
	for i, b := range buckets {
		out[i] = []byte(b)
	}
	return out
}

// FileOptions say what there is to know of the file, for those who look at it as it is.
func FileOptions() database.Options { return options(Options{}) }

// Hold is the file of a program that does not run, for checking and repairing it.
func Hold(path string, o Options) (*database.Held, error) { return database.Hold(path, options(o)) }

// sound says what is wrong with a record.
func sound(bucket string, key, raw []byte) error {
	for _, k := range kinds {
		if k.of() == bucket {
			return k.sound(key, raw)
		}
	}
	return nil
}

// agree names differences between the indexes and what they are made of, but for those of what is
// volatile.
func agree(tx *bolt.Tx) (problems []string) {
	if foreign(tx) {
		return nil
	}
	want, err := index(tx)
	if err != nil {
		return []string{err.Error()}
	}
	for _, name := range []string{bucketEmails, bucketMembers, bucketChildren, bucketShares} {
		n, b := 0, tx.Bucket([]byte(name))
		if b == nil {
			continue
		}
		_ = b.ForEach(func(k, v []byte) error {
			w, ok := want[name][string(k)]
			if !ok || w != string(v) {
				problems = append(problems, fmt.Sprintf("index %q has an entry that should not be there", name))
			} else {
				n++
			}
			return nil
		})
		if n < len(want[name]) {
			problems = append(problems, fmt.Sprintf("index %q lacks %d entries", name, len(want[name])-n))
		}
	}
	return problems
}

// foreign reports whether the file is of another version, whose indexes are its program's.
func foreign(tx *bolt.Tx) bool {
	meta := tx.Bucket([]byte(bucketMeta))
	return meta != nil && meta.Get(keyVersion) != nil && string(meta.Get(keyVersion)) != version
}

// index is what the indexes of accounts and users should hold: bucket → key → value.
func index(tx *bolt.Tx) (map[string]map[string]string, error) {
	want := map[string]map[string]string{bucketEmails: {}, bucketMembers: {}, bucketChildren: {}, bucketShares: {}}
	t := &Tx{tx: database.OfFile(tx)}
	add := func(e entry) error { want[e.bucket][string(e.key)] = string(e.value); return nil }
	return want, errors.Join(accountKind.entries(t, add), userKind.entries(t, add))
}

// rebuild makes the indexes anew, after some records were lost, and an account of which only its
// users are left.
func rebuild(tx *bolt.Tx) error {
	if foreign(tx) {
		return nil
	}
	if err := adopt(tx); err != nil {
		return err
	}
	for _, name := range derived {
		if err := tx.DeleteBucket([]byte(name)); err != nil {
			return err
		}
		if _, err := tx.CreateBucket([]byte(name)); err != nil {
			return err
		}
	}
	t := &Tx{tx: database.OfFile(tx)}
	for _, k := range kinds {
		err := k.entries(t, func(e entry) error { return t.tx.Bucket(e.bucket).Put(e.key, e.value) })
		if err != nil {
			return err
		}
	}
	trail := tx.Bucket([]byte(bucketTrail))
	if last, _ := trail.Cursor().Last(); len(last) == 8 {
		return trail.SetSequence(max(trail.Sequence(), binary.BigEndian.Uint64(last)))
	}
	return nil
}

// adopt makes an account anew that users are of and that is lost, so that it keeps its id.
func adopt(tx *bolt.Tx) error {
	t := &Tx{tx: database.OfFile(tx)}
	users, err := all[userRow](t, bucketUsers)
	if err != nil {
		return err
	}
	for _, row := range users {
		id := row.Record.OwnerAccountID
		if id == "" || tx.Bucket([]byte(bucketAccounts)).Get([]byte(id)) != nil {
			continue
		}
		a := model.NewAccount()
		a.ID, a.Name, a.Status, a.Inner.Created = id, id, model.Texts{model.StatusActive}, row.Inner.Created
		if err := accountKind.put(t, accountRow{a, a.Inner}); err != nil {
			return err
		}
	}
	return nil
}
