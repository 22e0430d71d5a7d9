package schema

import (
	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/guard"
)

// Owed says whether somebody is still to get an event: it waits in the outbox, it is parked, or a
// cursor has still to read of it.
func Owed(tx *bolt.Tx, id []byte) bool {
	return guard.Bucket(tx, OutboxID).Get(id) != nil || guard.Bucket(tx, Parked).Get(id) != nil ||
		guard.Bucket(tx, ChangesID).Get(id) != nil
}
