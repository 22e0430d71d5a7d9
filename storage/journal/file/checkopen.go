package file

import (
	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/boltfile"
	"vmsbridge/storage/guard"
)

// Inspect reads everything in a file that nobody changes: its pages and checksums, and whether the
// indexes agree with the events.
func Inspect(f *boltfile.File) (r Report, err error) {
	found, err := inspect(f, nil)
	return found.Report, err
}

// CheckOpen reads and compares everything in the file at path, which a database has open; tx is a
// transaction of that. begun is called once the transaction keeps all pages as they are: until then
// no other transaction may be committed. pause, if there is one, is called now and then; its error
// ends the reading. The error is one of reading.
func CheckOpen(tx *bolt.Tx, path string, begun func(), pause func() error) (Report, error) {
	r := Report{Report: guard.Report{Bytes: tx.Size()}}
	err := boltfile.Read(path, func(f *boltfile.File, err error) error {
		begun()
		if err != nil {
			r.Addf("%v", err)
			return nil
		}
		found, err := inspect(f, pause)
		found.Bytes = r.Bytes
		if r = found.Report; err == nil && found.whole {
			r.compare(tx)
		}
		return err
	})
	return r, err
}
