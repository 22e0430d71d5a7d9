package database

import "iter"

// Records are named buckets of keys and values, changed in transactions: the small state of the
// service (accounts, people, tokens, bridges). The interfaces here stand between the rooms that
// know what a record means (uplink/identity/store, cmd/vmscloud/registry) and what keeps it: a file
// (InFile), which is the default, or PostgreSQL (storage/postgres).

// Store keeps records. Safe for concurrent use.
type Store interface {
	// View runs read on one state of everything.
	View(read func(Tx) error) error
	// Update runs write and makes lasting what it changed: all of it if write returns nil, nothing
	// if not. Updates happen as if one came after the other. When it returns nil, the change is on
	// the device. After an error that is not write's own, the change may have happened all the same
	// where the connection broke during the commit: doing it again must do no harm.
	//
	// Both may run their function several times, and then only the last run counts: it must set
	// what it hands out anew each time, and must do nothing that cannot be undone.
	Update(write func(Tx) error) error
	// Held reports whether no other process can have changed the records: what is known of them in
	// memory still holds. It asks nothing.
	Held() bool
	Close() error
}

// Tx is a transaction. It is good until the function that got it returns, and for one goroutine. A
// record that cannot be read (the disk, the connection) ends the function at once, by a panic that
// View and Update turn into their error: none goes on with a record that seems to be missing.
type Tx interface {
	// Bucket is the bucket of a name. One that nothing was put into is empty.
	Bucket(name string) Bucket
	// Buckets are the names of those that something was put into, in order. It may take long.
	Buckets() []string
}

// Bucket is keys and their values in the order of the keys' bytes. In View only what reads may be
// called. A key is 1 to 2,048 bytes. The slices that it hands out are valid during the transaction
// and must not be changed.
type Bucket interface {
	// Get is the value of a key, nil if there is none. An empty value is not nil.
	Get(key []byte) []byte
	Put(key, value []byte) error
	// Delete removes a key. One that is not there is no error.
	Delete(key []byte) error
	// NextSequence is a number that this bucket has not given before, larger than all that it gave.
	NextSequence() (uint64, error)
	// Sequence is the last such number, 0 if it gave none. SetSequence has it go on behind another.
	Sequence() uint64
	SetSequence(last uint64) error
	// Range is the keys from one on up to, not including, another, in order; nil is no bound. The
	// bucket must not be changed until the loop has ended.
	Range(from, to []byte) iter.Seq2[[]byte, []byte]
	// Backward is Range from its end to its beginning.
	Backward(from, to []byte) iter.Seq2[[]byte, []byte]
}

// Prefix is the bounds, for Range, of the keys that begin with a prefix.
func Prefix(prefix []byte) (from, to []byte) {
	to = append(to, prefix...)
	for i := len(to) - 1; i >= 0; i-- {
		if to[i] != 0xff {
			to[i]++
			return prefix, to[:i+1]
		}
	}
	return prefix, nil
}
