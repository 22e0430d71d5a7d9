package file

import "sync"

// move is a compaction under way, as those who change the journal see it. It is safe for concurrent
// use.
type move struct {
	mu       sync.Mutex
	busy     bool
	watching bool
	rows     []byte // what has changed, as a record
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
	m.busy, m.watching, m.rows = false, false, nil
}

// watch begins to note what changes. The caller holds commitMu, so that no change is half-way
// through.
func (m *move) watch() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.watching = true
}

// take is what has changed since watch or the last take.
func (m *move) take() []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	taken := m.rows
	m.rows = nil
	return taken
}

// note takes what a transaction wrote, once it has been committed. One that failed and may stand
// nevertheless has the file opened anew, which ends the compaction.
func (m *move) note(rows []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.watching {
		m.rows = append(m.rows, rows...)
	}
}
