package pipeline

import (
	"sync"
	"time"
)

// Late wakes those who have waited for a unit that does not come, with one timer for all cameras: a
// timer that is stopped or set anew wakes the machine at the time that it had, so that one for each
// camera costs as many wake-ups as pictures do. Its zero value is ready. Safe for concurrent use.
type Late struct {
	mu      sync.Mutex // guards all below
	waiting map[chan struct{}]time.Time
	timer   *time.Timer
	set     bool // it will come
}

// add has something sent to wake at a time, unless it is removed before.
func (l *Late) add(wake chan struct{}, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting == nil {
		l.waiting = map[chan struct{}]time.Time{}
	}
	l.waiting[wake] = at
	if !l.set { // all wait equally long, so that whoever came before is due before
		l.setLocked(time.Until(at))
	}
}

func (l *Late) remove(wake chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.waiting, wake)
}

// setLocked has ring called after d. l.mu is held.
func (l *Late) setLocked(d time.Duration) {
	if l.set = true; l.timer == nil {
		l.timer = time.AfterFunc(d, l.ring)
	} else {
		l.timer.Reset(d)
	}
}

func (l *Late) ring() {
	l.mu.Lock()
	defer l.mu.Unlock()
	var next time.Time
	for wake, at := range l.waiting {
		switch {
		case time.Until(at) <= 0:
			delete(l.waiting, wake)
			signal(wake)
		case next.IsZero() || at.Before(next):
			next = at
		}
	}
	if l.set = false; !next.IsZero() {
		l.setLocked(time.Until(next))
	}
}

// signal sends to wake, which has one slot, unless it is full.
func signal(wake chan struct{}) {
	select {
	case wake <- struct{}{}:
	default:
	}
}
