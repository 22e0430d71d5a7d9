package schema

import (
	"bytes"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/guard"
)

// Untrue is the ids of an era's events, up to so many of them.
func Untrue(tx *bolt.Tx, era uint32, most int) (ids []string) {
	c := guard.Bucket(tx, Meta).Cursor()
	for k, v := c.Seek([]byte(UntruePrefix)); bytes.HasPrefix(k, []byte(UntruePrefix)) &&
		len(ids) < most; k, v = c.Next() {
		if IsOfEra(v, era) {
			ids = append(ids, string(k[len(UntruePrefix):]))
		}
	}
	return ids
}
