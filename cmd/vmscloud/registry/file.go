package registry

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"vmsbridge/storage/database"
)

// The buckets.
var (
	bucketBridges = "bridges" // account, zero byte, bridge id → Bridge
	bucketActors  = "actors"  // account, zero byte, actor id → Actor
	bucketKeys    = "keys"    // "page-token" → key

	bucketSubscriptions = "subscriptions" // account, zero byte, id → what the server keeps of it
)

// load brings what an older version wrote up to date and reads it.
func (r *Registry) load() error {
	return r.records.Update(func(tx database.Tx) error {
		clear(r.accounts)
		clear(r.held)
		return errors.Join(
			upgrade(tx, bucketBridges, Bridge.row),
			upgrade(tx, bucketActors, func(a Actor) ([]byte, Actor) { a.Plain = true; return a.row() }),
			each(tx, bucketBridges, func(_ []byte, b Bridge) error { r.setLocked(b); return nil }),
			each(tx, bucketActors, func(_ []byte, a Actor) error { r.account(a.Account).put(a); return nil }))
	})
}

func (b Bridge) row() ([]byte, Bridge) { return rowKey(b.Account, b.ID), b }
func (a Actor) row() ([]byte, Actor)   { return rowKey(a.Account, a.ID), a }

func rowKey(account, id string) []byte { return []byte(account + "\x00" + id) }

// upgrade moves the records whose keys are bare ids, from when those were one space for all
// accounts. One that is there already stays.
func upgrade[T any](tx database.Tx, bucket string, row func(T) ([]byte, T)) error {
	b, old := tx.Bucket(bucket), map[string]T{}
	err := each(tx, bucket, func(key []byte, v T) error {
		if bytes.IndexByte(key, 0) < 0 {
			old[string(key)] = v
		}
		return nil
	})
	for id, v := range old {
		key, v := row(v)
		if b.Get(key) == nil {
			err = errors.Join(err, putJSON(b, key, v))
		}
		err = errors.Join(err, b.Delete([]byte(id)))
	}
	return err
}

func each[T any](tx database.Tx, bucket string, f func(key []byte, v T) error) error {
	for k, raw := range tx.Bucket(bucket).Range(nil, nil) {
		var v T
		if err := json.Unmarshal(raw, &v); err != nil {
			return fmt.Errorf("read %s %q: %w", bucket, k, err)
		}
		if err := f(k, v); err != nil {
			return err
		}
	}
	return nil
}

// keep stores a bridge, if it has an id, and actors, and takes them in. writeMu is held.
func (r *Registry) keep(b Bridge, actors ...Actor) error {
	err := r.records.Update(func(tx database.Tx) error {
		if b.ID != "" {
			if err := putJSON(tx.Bucket(bucketBridges), rowKey(b.Account, b.ID), b); err != nil {
				return err
			}
		}
		for _, a := range actors {
			if err := putJSON(tx.Bucket(bucketActors), rowKey(a.Account, a.ID), a); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if b.ID != "" {
		r.setLocked(b)
	}
	for _, a := range actors {
		r.account(a.Account).put(a)
	}
	return nil
}

// erase removes all that is stored of an account.
func (r *Registry) erase(account string) error {
	return r.records.Update(func(tx database.Tx) error {
		for _, name := range []string{bucketBridges, bucketActors, bucketSubscriptions} {
			b := tx.Bucket(name)
			var keys [][]byte
			for k := range b.Range(database.Prefix(rowKey(account, ""))) {
				keys = append(keys, bytes.Clone(k))
			}
			for _, k := range keys {
				if err := b.Delete(k); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func putJSON(b database.Bucket, key []byte, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return b.Put(key, raw)
}
