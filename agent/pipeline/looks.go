package pipeline

import (
	"slices"
	"sync"
	"sync/atomic"

	"vmsbridge/motion"
)

// looks hands the pictures that the detector looks at to those who try something. Its zero value is
// ready. Safe for concurrent use.
type looks struct {
	count atomic.Int32 // of listeners

	mu        sync.Mutex // guards what follows
	listeners []chan motion.Picture
	closed    bool
}

// any tells whether somebody listens.
func (l *looks) any() bool { return l.count.Load() > 0 }

// offer gives all a copy of a picture, but those who are behind.
func (l *looks) offer(p motion.Picture) {
	if !l.any() {
		return
	}
	p.Luma = slices.Clone(p.Luma)
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.listeners {
		select {
		case c <- p:
		default:
		}
	}
}

// listen is for one who tries; its pictures are shared and must not be changed.
func (l *looks) listen() (pictures <-chan motion.Picture, done func()) {
	c := make(chan motion.Picture, 2)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		close(c)
		return c, func() {}
	}
	l.listeners = append(l.listeners, c)
	l.count.Add(1)
	return c, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.count.Add(-1)
		l.listeners = slices.DeleteFunc(l.listeners, func(o chan motion.Picture) bool { return o == c })
	}
}

// close ends all trials.
func (l *looks) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.listeners {
		close(c)
	}
	l.listeners, l.closed = nil, true
}
