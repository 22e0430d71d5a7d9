package journal

import (
	"errors"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/journal/form"
	"vmsbridge/storage/journal/guard"
	"vmsbridge/storage/journal/table"
	"vmsbridge/uplink/vms"
)

// maxBatch bounds how many changes share one transaction, and so how long a reader's view can be behind.
const maxBatch = 512

// change is one caller's change. apply may refuse (refusal) only before it writes, and may run more than once.
type change struct {
	apply func(*table.Tx) error
	err   error
	done  bool
}

// do makes a change durable together with those of other callers that wait at this moment. A lone caller waits for nobody:
// whoever gets commitMu first commits everything that has queued up behind the previous commit, its own change included.
func (j *Journal) do(apply func(*table.Tx) error) error {
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
	var t *table.Tx
	var wrote map[table.Key]struct{}
	if j.move.watched() {
		wrote = map[table.Key]struct{}{}
	}
	err := j.update(func(tx *bolt.Tx) error {
		t = table.New(tx, wrote)
		for _, c := range batch {
			c.err = nil
			err := c.apply(t)
			if r, ok := errors.AsType[refusal](err); ok {
				c.err = r.error
			} else if err != nil {
				return err
			}
		}
		return t.AddEvents(t.Stored)
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
func (j *Journal) committed(t *table.Tx) {
	j.stateMu.Lock()
	j.waiting += t.Waiting
	j.parked += t.Parked
	if n := j.outboxBytes.Load(); n >= 0 {
		j.outboxBytes.CompareAndSwap(n, max(0, n+t.Bytes)) // a count under way knows better
	}
	for _, id := range t.Left {
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
	if t.Queued {
		j.signal()
	}
	if t.Changed {
		for _, c := range cursors {
			c.signal()
		}
	}
	for _, ev := range t.Events {
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
		waiting, parked = table.Keys(guard.Bucket(tx, form.Outbox)), table.Keys(guard.Bucket(tx, form.Parked))
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
