package journal

import (
	"bytes"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/journal/boltfile"
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

// Check reads everything and compares it: page structure, checksums, each event with its places in the indexes, the
// outbox with its ids and events. It changes nothing and runs beside everything else; changes wait only while it begins.
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
			for _, p := range found.problems {
				r.addf("%s", p)
			}
			if err != nil || len(found.problems) > 0 {
				return err // comparing needs pages that can be read
			}
			r.compare(tx)
			return nil
		})
	})
	if err != nil {
		return r, fmt.Errorf("check journal: %w", err)
	}
	return r, nil
}

// compare looks for contradictions between the buckets.
func (r *Report) compare(tx *bolt.Tx) {
	events, ongoing := txBucket(tx, bucketEvents), txBucket(tx, bucketOngoing)
	_ = events.ForEach(func(id, v []byte) error {
		r.Events++
		ev, _, err := decodeEvent(id, v)
		if err != nil {
			r.addf("event %q: %v", id, err)
			return nil
		}
		for _, e := range headOf(ev).indexEntries(ev.ID) {
			if !bytes.Equal(txBucket(tx, e.bucket).Get(e.key), e.value) {
				r.addf("event %q is not (or wrongly) listed in %s", id, e.bucket)
			}
		}
		if ev.Ongoing() != (ongoing.Get(id) != nil) {
			r.addf("event %q: ongoing is %v, but its note says otherwise", id, ev.Ongoing())
		}
		return nil
	})
	_ = ongoing.ForEach(func(id, v []byte) error {
		r.Ongoing++
		if events.Get(id) == nil || len(v) != 8 {
			r.addf("note of an ongoing event %q is stray", id)
		}
		return nil
	})
	outboxID, parked := txBucket(tx, bucketOutboxID), txBucket(tx, bucketParked)
	_ = txBucket(tx, bucketOutbox).ForEach(func(k, v []byte) error {
		r.Waiting++
		var e entryValue
		switch err := unseal(tagEntry, v, &e); {
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
	_ = parked.ForEach(func(id, v []byte) error {
		r.Parked++
		if err := unseal(tagParked, v, &parkedValue{}); err != nil {
			r.addf("parked %q: %v", id, err)
		}
		if events.Get(id) == nil {
			r.addf("parked %q: the event is missing", id)
		}
		return nil
	})
}
