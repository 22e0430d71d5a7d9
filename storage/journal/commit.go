package journal

import (
	"errors"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/journal/form"
	"vmsbridge/uplink/vms"
)

// maxBatch bounds how many changes share one transaction, and so how long a reader's view can be behind.
const maxBatch = 512

// change is one caller's change. apply may refuse (refusal) only before it writes, and may run more than once.
type change struct {
	apply func(*txn) error
	err   error
	done  bool
}

// txn is a transaction that several changes share, with what is to happen once it is durable.
type txn struct {
	*bolt.Tx
	events          []vms.Event // for the subscribers, in order
	waiting, parked int         // differences
	forget          []string    // ids whose number of tries starts anew
	queued          bool        // something entered the outbox
	changed         bool        // something entered the sequence of changes
	stored          int         // events more than before
	bytes           int64       // difference of what the waiting events take up

	wrote map[keyName]struct{} // gets each key that changes, if not nil
}

// bucket is one of a transaction's, which tells what changes in it.
type bucket struct {
	*bolt.Bucket
	name  []byte
	wrote map[keyName]struct{}
}

func (t *txn) bucket(name []byte) bucket { return bucket{txBucket(t.Tx, name), name, t.wrote} }

func (b bucket) note(key []byte) {
	if b.wrote != nil {
		b.wrote[keyName{string(b.name), string(key)}] = struct{}{}
	}
}

func (b bucket) Put(key, value []byte) error {
	b.note(key)
	return b.Bucket.Put(key, value)
}

func (b bucket) Delete(key []byte) error {
	b.note(key)
	return b.Bucket.Delete(key)
}

// do makes a change durable together with those of other callers that wait at this moment. A lone caller waits for nobody:
// whoever gets commitMu first commits everything that has queued up behind the previous commit, its own change included.
func (j *Journal) do(apply func(*txn) error) error {
	c := &change{apply: apply}
	j.queueMu.Lock()
	j.queue = append(j.queue, c)
	j.queueMu.Unlock()

	j.commitMu.Lock()
	defer j.commitMu.Unlock()
	for !c.done {
		j.queueMu.Lock()
		n := min(len(j.queue), maxBatch)
		batch := j.queue[:n:n]
		j.queue = j.queue[n:]
		j.queueMu.Unlock()
		j.commit(batch)
	}
	return c.err
}

// commit runs a batch in one transaction. If the transaction cannot be written, each change gets one of its own, so that a
// change which is too big for the space left takes no other with it.
func (j *Journal) commit(batch []*change) {
	err := j.commitOnce(batch)
	if err != nil && len(batch) > 1 && !errors.Is(err, ErrClosed) {
		for _, c := range batch {
			c.err = j.commitOnce([]*change{c})
			c.done = true
		}
		return
	}
	for _, c := range batch {
		if err != nil {
			c.err = err
		}
		c.done = true
	}
}

// commitOnce runs a batch in one transaction, and on success sets each refused change's err.
func (j *Journal) commitOnce(batch []*change) error {
	var t *txn
	var wrote map[keyName]struct{}
	if j.move.watched() {
		wrote = map[keyName]struct{}{}
	}
	err := j.update(func(tx *bolt.Tx) error {
		t = &txn{Tx: tx, wrote: wrote}
		for _, c := range batch {
			c.err = nil
			err := c.apply(t)
			if r, ok := errors.AsType[refusal](err); ok {
				c.err = r.error
			} else if err != nil {
				return err
			}
		}
		return addCount(t.bucket(form.Format), t.stored)
	})
	j.move.note(wrote)
	if err == nil {
		err = j.settleNames()
	}
	if err != nil {
		j.metrics.failures.Inc()
		j.recount()
		for _, c := range batch {
			c.err = err
		}
		return err
	}
	j.metrics.commits.Inc()
	j.committed(t)
	return nil
}

// committed brings what is derived from the database up to date and tells those who listen.
func (j *Journal) committed(t *txn) {
	j.stateMu.Lock()
	j.waiting += t.waiting
	j.parked += t.parked
	if n := j.outboxBytes.Load(); n >= 0 {
		j.outboxBytes.CompareAndSwap(n, max(0, n+t.bytes)) // a count under way knows better
	}
	for _, id := range t.forget {
		delete(j.tries, id)
	}
	subs := make([]func(vms.Event), 0, len(j.subscribers))
	for i := range j.nextSub {
		if f := j.subscribers[i]; f != nil {
			subs = append(subs, f)
		}
	}
	cursors := j.cursors
	j.stateMu.Unlock()
	if t.queued {
		j.signal()
	}
	if t.changed {
		for _, c := range cursors {
			c.signal()
		}
	}
	for _, ev := range t.events {
		for _, f := range subs {
			f(ev)
		}
	}
}

// recount takes the state anew from the file after a transaction that failed: if the device refused only the last flush, the
// transaction may stand nevertheless.
func (j *Journal) recount() {
	var waiting, parked int
	err := j.view(func(tx *bolt.Tx) error {
		waiting, parked = keys(txBucket(tx, form.Outbox)), keys(txBucket(tx, form.Parked))
		return nil
	})
	if err != nil {
		return
	}
	j.stateMu.Lock()
	defer j.stateMu.Unlock()
	j.waiting, j.parked = waiting, parked
}

func (j *Journal) signal() {
	select {
	case j.changed <- struct{}{}:
	default:
	}
}

// Changed has a value after something entered the outbox, and at Open if something waits there. One value may stand for
// many entries.
func (j *Journal) Changed() <-chan struct{} { return j.changed }

// Subscribe calls f with every event that is put from now on, once it is durable and before its Put returns, in the order
// of the commits. f must not block and must not call a method that changes the journal; the event's slices are shared
// and must not be changed. After cancel returns, no new call begins.
func (j *Journal) Subscribe(f func(vms.Event)) (cancel func()) {
	j.stateMu.Lock()
	defer j.stateMu.Unlock()
	n := j.nextSub
	j.nextSub++
	j.subscribers[n] = f
	return func() {
		j.stateMu.Lock()
		defer j.stateMu.Unlock()
		delete(j.subscribers, n)
	}
}
