package query

import (
	"bytes"
	"slices"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/guard"
	"vmsbridge/storage/journal/schema"
	"vmsbridge/uplink/vms"
)

// Ongoing calls visit with the ids of an actor's events that have not ended. It looks once at each
// of the actor's types and classes of length, however many events there are.
func Ongoing(tx *bolt.Tx, actor vms.Actor, visit func(id []byte)) {
	root := schema.ActorPrefix(actor)
	c := guard.Bucket(tx, schema.ByActor).Cursor()
	for k, _ := c.Seek(root); k != nil && bytes.HasPrefix(k, root); {
		n := schema.GroupLen(k, schema.GroupNames(schema.ByActor))
		switch {
		case n == 0: // damaged
			k, _ = c.Next()
		case k[n-1] == schema.ClassOngoing:
			visit(k[n+8:])
			k, _ = c.Next()
		default:
			next := slices.Clone(k[:n])
			next[n-1]++ // the class, which is not the highest
			k, _ = c.Seek(next)
		}
	}
}
