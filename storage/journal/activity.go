package journal

import (
	"maps"
	"sync"
)

// activity is when the events that go on were last known to do so, where that is later than what
// the file says of it: the log beside the file has it. Safe for concurrent use, and waits for
// nothing.
type activity struct {
	mu   sync.Mutex // guards last
	last map[string]int64
}

// take notes that events went on at these times, in milliseconds since 1970.
func (a *activity) take(times map[string]int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for id, ms := range times {
		if old, ok := a.last[id]; !ok || ms > old {
			a.last[id] = ms
		}
	}
}

// of is when an event was last noted to go on.
func (a *activity) of(id string) (ms int64, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	ms, ok = a.last[id]
	return ms, ok
}

// all is when each event was last noted to go on.
func (a *activity) all() map[string]int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return maps.Clone(a.last)
}

// forget leaves an event out from now on: it has ended.
func (a *activity) forget(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.last, id)
}
