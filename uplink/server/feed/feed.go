// Package feed hands events that were stored just now to those who follow them. The service's store publishes, each open
// stream of server-sent events (uplink/server) follows:
//
//	f := feed.New()
//	events, stop := f.Follow()
//	defer stop()
//	for ev := range events { … }
package feed

import (
	"sync"

	"vmsbridge/uplink/vms"
)

// room is how many events a follower may be behind: a bridge that empties its outbox.
const room = 1024

// Feed is safe for concurrent use.
type Feed struct {
	mu        sync.Mutex // guards what follows
	followers map[chan vms.Event]struct{}
	closed    bool
}

// New makes a feed that nobody follows.
func New() *Feed { return &Feed{followers: map[chan vms.Event]struct{}{}} }

// Publish hands an event on. It does not wait: a follower who is too far behind is left, and its channel is closed.
func (f *Feed) Publish(ev vms.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for c := range f.followers {
		select {
		case c <- ev:
		default:
			f.leaveLocked(c)
		}
	}
}

// Follow gives the events from now on. The channel is closed when the follower is too slow, and when the feed or stop is.
func (f *Feed) Follow() (events <-chan vms.Event, stop func()) {
	c := make(chan vms.Event, room)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		close(c)
		return c, func() {}
	}
	f.followers[c] = struct{}{}
	return c, func() { f.mu.Lock(); defer f.mu.Unlock(); f.leaveLocked(c) }
}

func (f *Feed) leaveLocked(c chan vms.Event) {
	if _, ok := f.followers[c]; ok {
		delete(f.followers, c)
		close(c)
	}
}

// Close ends all following, so that streams do not hold up the end of the program.
func (f *Feed) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	for c := range f.followers {
		f.leaveLocked(c)
	}
}
