package server

import "sync"

// Turns let only one of several requests at a time store an event: a bridge that got no answer in
// time sends the event again while the service may be at the first request still. Requests with
// different events do not wait for each other, unless one of them wants a name for itself that the
// other shares. The server takes turns for what is reported, cmd/vmscloud for what it stores. The
// zero value is ready; safe for concurrent use.
type Turns struct {
	mu    sync.Mutex // guards taken
	left  *sync.Cond
	taken map[string]int // how many share it; alone: somebody has it for himself
}

const alone = -1

// Take waits until none of own is taken and nobody has one of shared for himself, and takes them
// all. A name may be in either list twice, but not in both.
func (t *Turns) Take(own, shared []string) (leave func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.taken == nil {
		t.taken, t.left = map[string]int{}, sync.NewCond(&t.mu)
	}
	for t.anyLocked(own, shared) {
		t.left.Wait()
	}
	for _, name := range own {
		t.taken[name] = alone
	}
	for _, name := range shared {
		t.taken[name]++
	}
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		for _, name := range own {
			delete(t.taken, name)
		}
		for _, name := range shared {
			if t.taken[name]--; t.taken[name] == 0 {
				delete(t.taken, name)
			}
		}
		t.left.Broadcast()
	}
}

func (t *Turns) anyLocked(own, shared []string) bool {
	for _, name := range own {
		if t.taken[name] != 0 {
			return true
		}
	}
	for _, name := range shared {
		if t.taken[name] == alone {
			return true
		}
	}
	return false
}
