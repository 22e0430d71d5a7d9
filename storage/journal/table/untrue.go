package table

import (
	"bytes"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/guard"
	"vmsbridge/storage/journal/form"
)

// Untrue is the ids of an era's events, up to so many of them.
func Untrue(tx *bolt.Tx, era uint32, most int) (ids []string) {
	c := guard.Bucket(tx, form.Meta).Cursor()
	for k, v := c.Seek([]byte(form.UntruePrefix)); bytes.HasPrefix(k, []byte(form.UntruePrefix)) &&
		len(ids) < most; k, v = c.Next() {
		if form.IsOfEra(v, era) {
			ids = append(ids, string(k[len(form.UntruePrefix):]))
		}
	}
	return ids
}
