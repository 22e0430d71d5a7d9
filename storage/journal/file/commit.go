package file

import (
	"errors"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/journal/schema"
)

// maxBatch bounds how many changes share one transaction, and so how long a reader's view can be
// behind.
const maxBatch = 512

// change is one caller's change.
type change struct {
	apply func(*schema.Tx) error
	err   error
	done  bool
}

// Do runs apply in a transaction and returns when that is durable, together with the changes of
// other callers that wait at this moment. apply may run more than once, and may Refuse only before
// it writes. A lone caller waits for nobody: whoever gets commitMu first commits everything that
// has queued up behind the previous commit, its own change included.
func (f *File) Do(apply func(*schema.Tx) error) error { return f.DoAll(apply)[0] }

// DoAll is Do of several changes, in their order, with an error for each. They share a transaction,
// as far as one takes them.
func (f *File) DoAll(apply ...func(*schema.Tx) error) []error {
	list := make([]*change, len(apply))
	for i := range apply {
		list[i] = &change{apply: apply[i]}
	}
	f.queueMu.Lock()
	f.queue = append(f.queue, list...)
	f.queueMu.Unlock()

	f.commitMu.Lock()
	defer f.commitMu.Unlock()
	for len(list) > 0 && !list[len(list)-1].done {
		f.queueMu.Lock()
		n := min(len(f.queue), maxBatch)
		batch := f.queue[:n:n]
		f.queue = f.queue[n:]
		f.queueMu.Unlock()
		f.commit(batch)
	}
	errs := make([]error, len(list))
	for i, c := range list {
		errs[i] = c.err
	}
	return errs
}

// commit runs a batch in one transaction. If the transaction cannot be written, each change gets
// one of its own, so that a change which is too big for the space left takes no other with it.
func (f *File) commit(batch []*change) {
	err := f.commitOnce(batch)
	if err != nil && len(batch) > 1 && !errors.Is(err, ErrClosed) {
		for _, c := range batch {
			c.err = f.commitOnce([]*change{c})
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
func (f *File) commitOnce(batch []*change) error {
	var t *schema.Tx
	var rows []byte
	err := f.update(func(tx *bolt.Tx) ([]byte, error) {
		t = schema.New(tx, map[schema.Key]struct{}{})
		for _, c := range batch {
			c.err = nil
			err := c.apply(t)
			if r, ok := errors.AsType[refusal](err); ok {
				c.err = r.error
			} else if err != nil {
				return nil, err
			}
		}
		if err := t.AddEvents(t.Stored); err != nil {
			return nil, err
		}
		waiting, parked := f.Tally()
		if err := t.NoteQueues(waiting+t.Waiting, parked+t.Parked); err != nil {
			return nil, err
		}
		rows = t.Written()
		return rows, nil
	})
	if err == nil {
		f.move.note(rows)
		err = f.settleNames()
	}
	f.note(err)
	if err != nil {
		f.metrics.failures.Inc()
		f.recount()
		for _, c := range batch {
			c.err = err
		}
		return err
	}
	f.metrics.commits.Inc()
	f.tally.add(t)
	f.settleBeside()
	if f.opts.Committed != nil {
		f.opts.Committed(t)
	}
	return nil
}
