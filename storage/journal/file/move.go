package file

import (
	"maps"
	"sync"

	"vmsbridge/storage/journal/schema"
)

// move is a compaction under way, as those who change the journal see it. It is safe for concurrent
// use.
type move struct {
	mu      sync.Mutex
	busy    bool
	changed map[schema.Key]struct{} // nil: nobody wants to know
}

// begin says whether there was no other one.
func (m *move) begin() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	was := m.busy
	m.busy = true
	return !was
}

func (m *move) end() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.busy, m.changed = false, nil
}

// watch begins to note what changes. The caller holds commitMu, so that no change is half-way
// through.
func (m *move) watch() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.changed = map[schema.Key]struct{}{}
}

// take is what has changed since watch or the last take.
func (m *move) take() map[schema.Key]struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	taken := m.changed
	m.changed = map[schema.Key]struct{}{}
	return taken
}

// note takes the keys that a transaction wrote, once it has been committed or has failed: noted
// earlier, they could be taken and read before the commit.
func (m *move) note(keys map[schema.Key]struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.changed != nil {
		maps.Copy(m.changed, keys)
	}
}
