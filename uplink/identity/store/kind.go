package store

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"vmsbridge/storage/database"
	"vmsbridge/uplink/identity/model"
)

// kind is one kind of record: the bucket of its JSON, and what follows from a record.
type kind[T any] struct {
	bucket string
	key    func(T) []byte  // under which it stands; nil: it does not say
	index  func(T) []entry // what leads to it; nil: nothing
}

// entry is one of a bucket that is made of records.
type entry struct {
	bucket     string
	key, value []byte
}

var (
	accountKind = kind[accountRow]{bucketAccounts, func(r accountRow) []byte { return []byte(r.Record.ID) },
		func(r accountRow) (list []entry) {
			a, id := r.account(), []byte(r.Record.ID)
			if a.Child() {
				list = append(list, entry{bucketChildren, pair(a.OwnerAccountID, id), nil})
			}
			for _, email := range model.Recipients(a) {
				list = append(list, entry{bucketShares, pair(email, id), nil})
			}
			return list
		}}
	userKind = kind[userRow]{bucketUsers, func(r userRow) []byte { return []byte(r.Record.ID) },
		func(r userRow) []entry {
			id := []byte(r.Record.ID)
			list := []entry{{bucketMembers, pair(r.Record.OwnerAccountID, id), nil}}
			if fold := model.Fold(r.Record.Email); fold != "" {
				list = append(list, entry{bucketEmails, []byte(fold), id})
			}
			return list
		}}
	tokenKind   = kind[model.Token]{bucketTokens, func(t model.Token) []byte { return []byte(t.ID) }, nil}
	sessionKind = kind[model.Session]{bucketSessions, func(s model.Session) []byte { return s.Hash },
		func(s model.Session) []entry { return []entry{{bucketOpen, pair(s.UserID, s.Hash), nil}} }}
	ticketKind = kind[model.Ticket]{bucketTickets, func(t model.Ticket) []byte { return t.Hash },
		func(t model.Ticket) []entry { return []entry{{bucketHeld, pair(t.UserID, t.Hash), nil}} }}
	trailKind = kind[model.AuditEntry]{bucketTrail, trailKey, func(e model.AuditEntry) []entry {
		return []entry{{bucketTrailIndex, pair(e.AccountID, trailKey(e)), nil}}
	}}

	kinds = []interface {
		of() string
		sound(key, raw []byte) error
		entries(tx *Tx, visit func(entry) error) error
	}{accountKind, userKind, tokenKind, sessionKind, ticketKind, trailKind,
		kind[model.Attempts]{bucket: bucketAttempts}, kind[model.QueuedMessage]{bucket: bucketMessages}}
)

func trailKey(e model.AuditEntry) []byte { return binary.BigEndian.AppendUint64(nil, e.Seq) }

func (k kind[T]) of() string { return k.bucket }

// sound says what is wrong with what stands under a key.
func (k kind[T]) sound(key, raw []byte) error {
	var v T
	if err := json.Unmarshal(raw, &v); err != nil || k.key == nil {
		return err
	}
	if own := k.key(v); len(own) > 0 && !bytes.Equal(own, key) {
		return errors.New("it is that of another key")
	}
	return nil
}

// entries visits what leads to each record.
func (k kind[T]) entries(tx *Tx, visit func(entry) error) error {
	if k.index == nil {
		return nil
	}
	for _, raw := range tx.tx.Bucket(k.bucket).Range(nil, nil) {
		var v T
		if err := json.Unmarshal(raw, &v); err != nil {
			return fmt.Errorf("read %s record: %w", k.bucket, err)
		}
		for _, e := range k.index(v) {
			if err := visit(e); err != nil {
				return err
			}
		}
	}
	return nil
}

// put stores a record with what leads to it, in place of what was there, if that led elsewhere.
func (k kind[T]) put(tx *Tx, v T, was ...T) error {
	var list []entry
	if k.index != nil {
		list = k.index(v)
	}
	for _, old := range was {
		for _, e := range k.index(old) {
			if slices.ContainsFunc(list, func(n entry) bool {
				return n.bucket == e.bucket && bytes.Equal(n.key, e.key)
			}) {
				continue
			}
			if err := tx.tx.Bucket(e.bucket).Delete(e.key); err != nil {
				return err
			}
		}
	}
	for _, e := range list {
		if err := tx.tx.Bucket(e.bucket).Put(e.key, e.value); err != nil {
			return err
		}
	}
	return put(tx, k.bucket, k.key(v), v)
}

// remove takes a record away, and what leads to it.
func (k kind[T]) remove(tx *Tx, v T) (err error) {
	if k.index != nil {
		for _, e := range k.index(v) {
			err = errors.Join(err, tx.tx.Bucket(e.bucket).Delete(e.key))
		}
	}
	tx.wrote.note(k.bucket, k.key(v))
	return errors.Join(err, tx.tx.Bucket(k.bucket).Delete(k.key(v)))
}

// sweep drops the records that are over.
func sweep[T any](tx *Tx, bucket string, over func(T) bool, drop func(T) error) error {
	list, err := all[T](tx, bucket)
	for _, v := range list {
		if over(v) {
			err = errors.Join(err, drop(v))
		}
	}
	return err
}

// follow lists what an index leads to from a.
func follow[T any](tx *Tx, index, a string, find func(key []byte) (T, error)) ([]T, error) {
	var out []T
	for _, key := range seconds(tx, index, a) {
		v, err := find(key)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// pair is a key of two parts. The first must have no zero byte.
func pair(a string, b []byte) []byte { return append(append([]byte(a), 0), b...) }

// seconds lists the second parts of the keys whose first part is a.
func seconds(tx *Tx, bucket, a string) [][]byte {
	var out [][]byte
	prefix := pair(a, nil)
	for k := range tx.tx.Bucket(bucket).Range(database.Prefix(prefix)) {
		out = append(out, bytes.Clone(k[len(prefix):]))
	}
	return out
}
