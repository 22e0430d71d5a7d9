package file

import (
	"sync"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/journal/schema"
)

// tally is how much waits and is parked. It is safe for concurrent use.
type tally struct {
	mu              sync.Mutex
	waiting, parked int
}

func (n *tally) set(waiting, parked int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.waiting, n.parked = waiting, parked
}

func (n *tally) add(t *schema.Tx) { n.correct(t.Waiting, t.Parked) }

func (n *tally) correct(waiting, parked int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.waiting += waiting
	n.parked += parked
}

// Tally is how many entries wait in the outbox, and how many are parked. It reads nothing.
func (f *File) Tally() (waiting, parked int) {
	f.tally.mu.Lock()
	defer f.tally.mu.Unlock()
	return f.tally.waiting, f.tally.parked
}

// recount takes the state anew from the file after a transaction that failed: if the device refused
// only the last flush, the transaction may stand nevertheless.
func (f *File) recount() {
	var waiting, parked int
	err := f.View(func(tx *bolt.Tx) error {
		waiting, parked = schema.Noted(tx)
		return nil
	})
	if err != nil {
		return
	}
	f.tally.set(waiting, parked)
}
