package file

import (
	"fmt"
	"sync"

	bolt "go.etcd.io/bbolt"
)

// Check reads everything and compares it: page structure, checksums, the events with their places
// in the indexes, the outbox with its ids and events. It reads the file's pages once, in order,
// some seconds for a million events. It changes nothing and runs beside everything else; changes
// wait only while it begins. The error is one of reading; what is wrong is in the Report.
func (f *File) Check() (r Report, err error) {
	f.commitMu.Lock()
	begun := sync.OnceFunc(f.commitMu.Unlock)
	defer begun()
	err = f.View(func(tx *bolt.Tx) (err error) {
		r, err = CheckOpen(tx, f.path, begun, nil)
		return err
	})
	if err != nil {
		return r, fmt.Errorf("check journal: %w", err)
	}
	return r, nil
}
