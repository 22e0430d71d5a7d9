package schema

import (
	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/guard"
	"vmsbridge/uplink/vms"
)

// Tx is a transaction that several changes share, with what its owner has to know of it once it is
// durable. One goroutine.
type Tx struct {
	*bolt.Tx
	Events          []vms.Event // for the subscribers, in order
	Waiting, Parked int         // differences
	Queued          bool        // something entered the outbox
	Changed         bool        // something entered the sequence of changes
	Stored          int         // events more than before
	Bytes           int64       // difference of what the waiting events take up

	wrote map[Key]struct{}
}

// New is a transaction that nothing was done in yet. wrote gets each key that changes in it, if it
// is not nil.
func New(tx *bolt.Tx, wrote map[Key]struct{}) *Tx { return &Tx{Tx: tx, wrote: wrote} }

// Bucket is one of a transaction's, which tells what changes in it.
type Bucket struct {
	*bolt.Bucket
	name  []byte
	wrote map[Key]struct{}
}

// pageFill is how full a page is left that is split. What comes later nearly always sorts behind
// what is there, of its camera or of all, so that the room that bbolt leaves (a half) stays empty;
// and a list that counts a million events has a page to look at for each thirty of them.
const pageFill = 0.9

// Bucket is the bucket of that name. A missing one is damage of the file.
func (t *Tx) Bucket(name []byte) Bucket {
	b := guard.Bucket(t.Tx, name)
	b.FillPercent = pageFill
	return Bucket{b, name, t.wrote}
}

func (b Bucket) note(key []byte) {
	if b.wrote != nil {
		b.wrote[Key{string(b.name), string(key)}] = struct{}{}
	}
}

// Put stores a value.
func (b Bucket) Put(key, value []byte) error {
	b.note(key)
	return b.Bucket.Put(key, value)
}

// Delete takes a value away, if there is one.
func (b Bucket) Delete(key []byte) error {
	b.note(key)
	return b.Bucket.Delete(key)
}

// Key names a key of a bucket.
type Key struct{ Bucket, Key string }
