package journal

import (
	"bytes"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/journal/boltfile"
	"vmsbridge/storage/journal/form"
)

// Report is what Check found.
type Report struct {
	Events, Ongoing, Waiting, Parked int
	Bytes                            int64
	// Problems has a sentence for each thing that is not as it should be, up to 100.
	Problems []string
}

const maxProblems = 100

// Clean says that nothing is wrong.
func (r Report) Clean() bool { return len(r.Problems) == 0 }

func (r *Report) addf(format string, args ...any) {
	if len(r.Problems) < maxProblems {
		r.Problems = append(r.Problems, fmt.Sprintf(format, args...))
	}
}

// Check reads everything and compares it: page structure, checksums, the events with their places in the indexes, the
// outbox with its ids and events. It reads the file's pages once, in order, some seconds for a million events. It changes nothing and runs beside everything else; changes wait only while it begins.
// The error is one of reading; what is wrong is in the Report.
func (j *Journal) Check() (Report, error) {
	var r Report
	j.commitMu.Lock()
	locked := true
	defer func() {
		if locked {
			j.commitMu.Unlock()
		}
	}()
	err := j.view(func(tx *bolt.Tx) error {
		r = Report{Bytes: tx.Size()}
		return withFile(j.path, func(f *boltfile.File, err error) error {
			// From here on, the transaction keeps the pages of this meta as they are.
			if locked {
				j.commitMu.Unlock()
				locked = false
			}
			if err != nil {
				r.addf("%v", err)
				return nil
			}
			if f.Metas() < 2 {
				r.addf("one of the two meta pages is unreadable")
			}
			found, err := inspect(f)
			r.take(found)
			if err != nil || len(found.problems) > 0 {
				return err // comparing needs pages that can be read
			}
			r.compare(tx, found)
			return nil
		})
	})
	if err != nil {
		return r, fmt.Errorf("check journal: %w", err)
	}
	return r, nil
}

// take adds what reading the pages found.
func (r *Report) take(found *inspector) {
	r.Events, r.Ongoing, r.Waiting, r.Parked = found.events, found.ongoing, found.waiting, found.parked
	for _, p := range found.all() {
		r.addf("%s", p)
	}
}

// compare looks for contradictions that only show across buckets, now that all pages can be read.
func (r *Report) compare(tx *bolt.Tx, found *inspector) {
	if len(found.contradictions) > 0 {
		r.compareEvents(tx)
	}
	r.compareQueues(tx)
}

// compareEvents names the events whose places in the indexes are wrong. It looks each of them up, which takes many times as
// long as the sums that say whether there are any.
func (r *Report) compareEvents(tx *bolt.Tx) {
	events, ongoing := txBucket(tx, form.Events), txBucket(tx, form.Ongoing)
	_ = events.ForEach(func(id, v []byte) error {
		ev, _, err := form.ReadEvent(id, v)
		if err != nil {
			r.addf("event %q: %v", id, err)
			return nil
		}
		for _, e := range form.HeadOf(ev).Listings(ev.ID) {
			if !bytes.Equal(txBucket(tx, e.Bucket).Get(e.Key), e.Value) {
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
	events, outboxID, parked := txBucket(tx, form.Events), txBucket(tx, form.OutboxID), txBucket(tx, form.Parked)
	_ = txBucket(tx, form.Outbox).ForEach(func(k, v []byte) error {
		var e form.Entry
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
