package guard

import (
	"fmt"
	"runtime/debug"

	bolt "go.etcd.io/bbolt"
)

// DamageError says that the database's structure broke under an operation.
type DamageError struct{ Cause any }

func (e *DamageError) Error() string { return fmt.Sprintf("file is damaged: %v", e.Cause) }

// Damaged is the error of damage, whatever told of it.
func Damaged(cause any) *DamageError { return &DamageError{cause} }

// Run runs f and turns a panic, also the fault of reading a mapped page that the device cannot
// deliver, into a *DamageError. bbolt trusts its pages; a flipped bit shows as a failed assertion,
// a wild slice or a fault in here.
func Run(f func() error) (err error) {
	old := debug.SetPanicOnFault(true)
	defer debug.SetPanicOnFault(old)
	defer func() {
		if v := recover(); v != nil {
			err = Damaged(fmt.Sprintf("%v", v))
		}
	}()
	return f()
}

// Bucket is a bucket that Open made sure of; a missing one is damage.
func Bucket(tx *bolt.Tx, name []byte) *bolt.Bucket {
	b := tx.Bucket(name)
	if b == nil {
		panic(fmt.Sprintf("bucket %q is missing", name))
	}
	return b
}
