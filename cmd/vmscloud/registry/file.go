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

// load reads the records.
func (r *Registry) load() error {
	return r.records.View(func(tx database.Tx) error {
		clear(r.accounts)
		clear(r.held)
		return errors.Join(
			each(tx, bucketBridges, r.setLocked),
			each(tx, bucketActors, func(a Actor) { r.account(a.Account).put(a) }))
	})
}

func rowKey(account, id string) []byte { return []byte(account + "\x00" + id) }

// each calls f with the records of a bucket.
func each[T any](tx database.Tx, bucket string, f func(T)) error {
	for k, raw := range tx.Bucket(bucket).Range(nil, nil) {
		if bytes.IndexByte(k, 0) < 0 {
			return fmt.Errorf("read %s %q: it is from before version 1.0.0; begin with an empty data folder", bucket, k)
		}
		var v T
		if err := json.Unmarshal(raw, &v); err != nil {
			return fmt.Errorf("read %s %q: %w", bucket, k, err)
		}
		f(v)
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
