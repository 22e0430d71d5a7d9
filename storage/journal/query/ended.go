package query

import (
	bolt "go.etcd.io/bbolt"

	"vmsbridge/uplink/vms"
)

// Ended visits the events that ended before a time, in milliseconds, in the order of their places,
// those after the given place (nil: from the first on), until visit says no. group and place
// together are the event's key in the index by time; visit must copy what it keeps.
func Ended(tx *bolt.Tx, before int64, after []byte, visit func(group, place []byte) bool) {
	p := makePlan(vms.Query{})
	p.anyEnd, p.endMax = false, before-1
	p.survey(tx)
	for m := p.merged(tx, true, after); len(m.streams) > 0; m.next() {
		if s := m.streams[0]; !visit(s.group, s.place) {
			return
		}
	}
}
