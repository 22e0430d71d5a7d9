package file

import (
	"sync"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/guard"
)

// maxCounts bounds a Steady's memory: a million events have some three thousand branch pages.
const maxCounts = 1 << 16

// Steady is a state of the file whose pages stay as they are: bbolt writes over no page that an
// open transaction can see, and one of that state stays open until the next checkpoint. So what was
// counted below one of its pages holds in each later state that still has the page. Safe for
// concurrent use.
type Steady struct {
	id int

	mu     sync.Mutex // guards counts
	counts map[uint64]int
}

// Steady is the one that holds for a transaction which the caller has open already, nil for none.
// fresh says that it is of that very state, and takes what is counted there.
func (f *File) Steady(tx *bolt.Tx) (s *Steady, fresh bool) {
	s = f.steady.Load()
	return s, s != nil && s.id == tx.ID()
}

// Count is what was counted below a page.
func (s *Steady) Count(page uint64) (n int, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, ok = s.counts[page]
	return n, ok
}

// Counted keeps it.
func (s *Steady) Counted(page uint64, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.counts) < maxCounts {
		s.counts[page] = n
	}
}

// KeepSteady sees to it that there is a Steady, if nothing has to be waited for. Without a log
// beside the file there is none. The caller has no transaction open.
func (f *File) KeepSteady() {
	if f.steady.Load() != nil || !f.commitMu.TryLock() {
		return
	}
	defer f.commitMu.Unlock()
	f.dbMu.RLock()
	defer f.dbMu.RUnlock()
	if f.db == nil || f.redo == nil || f.doubtful.Load() != nil || !f.pointMu.TryLock() {
		return
	}
	defer f.pointMu.Unlock()
	var tx *bolt.Tx
	if guard.Run(func() (err error) { tx, err = f.db.Begin(false); return err }) != nil {
		return // whoever reads next meets it too
	}
	f.held = append(f.held, tx)
	f.steady.Store(&Steady{id: tx.ID(), counts: map[uint64]int{}})
}
