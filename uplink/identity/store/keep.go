package store

import (
	"encoding/binary"
	"encoding/json"
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
func sound(bucket string, k, v []byte) error {
	own := ""
	var err error
	switch bucket {
	case bucketAccounts:
		var row accountRow
		err = json.Unmarshal(v, &row)
		own = row.Record.ID
	case bucketUsers:
		var row userRow
		err = json.Unmarshal(v, &row)
		own = row.Record.ID
	case bucketTokens:
		var row model.Token
		err = json.Unmarshal(v, &row)
		own = row.ID
	case bucketSessions:
		var row model.Session
		err = json.Unmarshal(v, &row)
		own = string(row.Hash)
	case bucketTickets:
		var row model.Ticket
		err = json.Unmarshal(v, &row)
		own = string(row.Hash)
	case bucketTrail:
		var row model.AuditEntry
		err = json.Unmarshal(v, &row)
		own = string(binary.BigEndian.AppendUint64(nil, row.Seq))
	case bucketAttempts:
		err = json.Unmarshal(v, &model.Attempts{})
	case bucketMessages:
		err = json.Unmarshal(v, &model.QueuedMessage{})
	}
	if err == nil && own != "" && own != string(k) {
		err = errors.New("it is that of another key")
	}
	return err
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
	emails, members, children, shares := map[string]string{}, map[string]string{}, map[string]string{},
		map[string]string{}
	t := &Tx{tx: database.OfFile(tx)}
	accounts, err := all[accountRow](t, bucketAccounts)
	if err != nil {
		return nil, err
	}
	for _, row := range accounts {
		a := row.account()
		if a.Child() {
			children[string(pair(a.OwnerAccountID, []byte(a.ID)))] = ""
		}
		for _, email := range model.Recipients(a) {
			shares[string(pair(email, []byte(a.ID)))] = ""
		}
	}
	users, err := all[userRow](t, bucketUsers)
	for _, row := range users {
		u := row.user()
		if fold := model.Fold(u.Email); fold != "" {
			emails[fold] = u.ID
		}
		members[string(pair(u.OwnerAccountID, []byte(u.ID)))] = ""
	}
	return map[string]map[string]string{bucketEmails: emails, bucketMembers: members,
		bucketChildren: children, bucketShares: shares}, err
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
	want, err := index(tx)
	if err != nil {
		return err
	}
	for name, entries := range want {
		for k, v := range entries {
			if err := tx.Bucket([]byte(name)).Put([]byte(k), []byte(v)); err != nil {
				return err
			}
		}
	}
	return rebuildVolatile(tx)
}

// rebuildVolatile makes the indexes of sessions, tickets and the trail.
func rebuildVolatile(tx *bolt.Tx) error {
	t := &Tx{tx: database.OfFile(tx)}
	sessions, err := all[model.Session](t, bucketSessions)
	for _, s := range sessions {
		err = errors.Join(err, mark(t, bucketOpen, pair(s.UserID, s.Hash), true))
	}
	tickets, err2 := all[model.Ticket](t, bucketTickets)
	err = errors.Join(err, err2)
	for _, k := range tickets {
		err = errors.Join(err, mark(t, bucketHeld, pair(k.UserID, k.Hash), true))
	}
	trail := tx.Bucket([]byte(bucketTrail))
	last := trail.Sequence()
	err = errors.Join(err, trail.ForEach(func(k, raw []byte) error {
		var e model.AuditEntry
		if err := json.Unmarshal(raw, &e); err != nil {
			return err
		}
		last = max(last, e.Seq)
		return mark(t, bucketTrailIndex, pair(e.AccountID, k), true)
	}))
	return errors.Join(err, trail.SetSequence(last))
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
		if err := put(t, bucketAccounts, []byte(id), accountRow{a, a.Inner}); err != nil {
			return err
		}
	}
	return nil
}
