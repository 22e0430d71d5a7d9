package journal

import (
	"bytes"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/guard"
	"vmsbridge/storage/journal/schema"
)

// SetMeta stores a small value of the owner's (a boot counter, a cursor), durably; an empty value
// removes it. The key is 1 to 1024 bytes, the value at most 64 KiB.
func (j *Journal) SetMeta(key string, value []byte) error {
	if key == "" || len(key) > 1024 || len(value) > 64<<10 {
		return fmt.Errorf("set meta %q: key of %d bytes and value of %d bytes: the limits are 1 to 1024 and 65536", key,
			len(key), len(value))
	}
	sealed := schema.SealOwned(value)
	err := j.file.Do(func(t *schema.Tx) error {
		if len(value) == 0 {
			return t.Bucket(schema.Meta).Delete([]byte(key))
		}
		return t.Bucket(schema.Meta).Put([]byte(key), sealed)
	})
	if err != nil {
		return fmt.Errorf("set meta %q: %w", key, err)
	}
	return nil
}

// Meta is a copy of what SetMeta stored, nil if nothing.
func (j *Journal) Meta(key string) (value []byte, err error) {
	if key == "" {
		return nil, nil
	}
	err = j.file.View(func(tx *bolt.Tx) error {
		value = nil
		b := guard.Bucket(tx, schema.Meta).Get([]byte(key))
		if b == nil {
			return nil
		}
		b, err := schema.ReadOwned(b)
		value = bytes.Clone(b)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read meta %q: %w", key, err)
	}
	return value, nil
}

// MetaKeys are the keys of what SetMeta stored, in order.
func (j *Journal) MetaKeys() (keys []string, err error) {
	err = j.file.View(func(tx *bolt.Tx) error {
		keys = nil
		return guard.Bucket(tx, schema.Meta).ForEach(func(k, _ []byte) error {
			if k[0] != 0 { // those are the journal's own
				keys = append(keys, string(k))
			}
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("read the keys of metas: %w", err)
	}
	return keys, nil
}
