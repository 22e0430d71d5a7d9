package main

import "sync"

// turns lets only one of several requests at a time store an event: a bridge that got no answer in time sends the event again while
// the service may be at the first request still. Requests with different events do not wait for each other. The zero value is
// ready; safe for concurrent use.
type turns struct {
	mu    sync.Mutex // guards taken
	left  *sync.Cond
	taken map[string]struct{}
}

// take waits until none of these ids is taken, and takes them all. An id may be among them twice.
func (t *turns) take(ids []string) (leave func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.taken == nil {
		t.taken, t.left = map[string]struct{}{}, sync.NewCond(&t.mu)
	}
	for t.anyLocked(ids) {
		t.left.Wait()
	}
	for _, id := range ids {
		t.taken[id] = struct{}{}
	}
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		for _, id := range ids {
			delete(t.taken, id)
		}
		t.left.Broadcast()
	}
}

func (t *turns) anyLocked(ids []string) bool {
	for _, id := range ids {
		if _, ok := t.taken[id]; ok {
			return true
		}
	}
	return false
}
