package archive

import (
	"log/slog"
	"time"
)

const (
	// RoomBytes is what the stills give up at a time for events: twice what the journal's file
	// grows by.
	RoomBytes = 8 << 20
	// roomMin and roomMax bound the pause between two tries that did not help: whatever else fills
	// the disk, or a quota on the journal alone, must not cost all stills at once.
	roomMin = time.Second
	roomMax = time.Minute
)

// room makes room for events on a full disk, at the cost of the oldest stills. One goroutine.
type room struct {
	release func(bytes int64) (int64, error) // of the ring of stills
	log     *slog.Logger

	pause time.Duration // after the last try; 0 if it helped
	last  time.Time
}

// make gives up stills and tells whether any space came free. It does nothing soon after a try that
// did not help.
func (r *room) make() bool {
	if r.pause > 0 && time.Since(r.last) < r.pause {
		return false
	}
	r.pause, r.last = min(max(2*r.pause, roomMin), roomMax), time.Now()
	freed, err := r.release(RoomBytes)
	if err != nil {
		r.log.Warn("make room for events", "error", err)
	}
	if freed > 0 {
		r.log.Warn("the disk is full: the oldest stills make room for events", "bytes", freed)
	}
	return freed > 0
}

// helped notes that the journal took an event.
func (r *room) helped() { r.pause = 0 }
