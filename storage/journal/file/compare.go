package file

import (
	"bytes"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/guard"
	"vmsbridge/storage/journal/schema"
)

// compare looks for contradictions that only show across buckets, now that all pages can be read.
func (r *Report) compare(tx *bolt.Tx, found *inspector) {
	if len(found.contradictions) > 0 {
		r.compareEvents(tx)
	}
	r.compareQueues(tx)
}

// compareEvents names the events whose places in the indexes are wrong. It looks each of them up,
// which takes many times as long as the sums that say whether there are any.
func (r *Report) compareEvents(tx *bolt.Tx) {
	events, ongoing := guard.Bucket(tx, schema.Events), guard.Bucket(tx, schema.Ongoing)
	_ = events.ForEach(func(id, v []byte) error {
		ev, _, err := schema.ReadEvent(id, v)
		if err != nil {
			r.addf("event %q: %v", id, err)
			return nil
		}
		for _, e := range schema.HeadOf(ev).Listings(ev.ID) {
			if !bytes.Equal(guard.Bucket(tx, e.Bucket).Get(e.Key), e.Value) {
				r.addf("event %q is not (or wrongly) listed in %s", id, e.Bucket)
			}
		}
		if ev.Ongoing() != (ongoing.Get(id) != nil) {
			r.addf("event %q: ongoing is %v, but its note says otherwise", id, ev.Ongoing())
		}
		return nil
	})
	_ = ongoing.ForEach(func(id, _ []byte) error {
		if events.Get(id) == nil {
			r.addf("note of an ongoing event %q is stray", id)
		}
		return nil
	})
}

// compareQueues looks each event up that waits or is parked.
func (r *Report) compareQueues(tx *bolt.Tx) {
	events, outboxID, parked := guard.Bucket(tx, schema.Events), guard.Bucket(tx, schema.OutboxID),
		guard.Bucket(tx, schema.Parked)
	_ = guard.Bucket(tx, schema.Outbox).ForEach(func(k, v []byte) error {
		var e schema.Entry
		switch err := e.Read(v); {
		case err != nil:
			r.addf("entry %x of the outbox: %v", k, err)
		case !bytes.Equal(outboxID.Get([]byte(e.ID)), k):
			r.addf("entry %x of the outbox is not the one of %q", k, e.ID)
		case events.Get([]byte(e.ID)) == nil:
			r.addf("entry %x of the outbox: event %q is missing", k, e.ID)
		case parked.Get([]byte(e.ID)) != nil:
			r.addf("event %q both waits and is parked", e.ID)
		}
		return nil
	})
	_ = parked.ForEach(func(id, _ []byte) error {
		if events.Get(id) == nil {
			r.addf("parked %q: the event is missing", id)
		}
		return nil
	})
}
