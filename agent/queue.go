package agent

import (
	"context"
	"sync"

	"vmsbridge/agent/camera"
)

// What a camera may have waiting for its decoder: about four seconds of a fast stream, or the bytes of two large groups
// of pictures, whichever is less.
const (
	maxQueuedUnits = 120
	maxQueuedBytes = 24 << 20
)

// item is what a camera's source hands to its pipeline, in order: an access unit or a change of state.
type item struct {
	unit   camera.AccessUnit
	status *camera.Status
}

// queue stands between the RTSP reader, which must never wait, and the decoder, which may. When the decoder falls
// behind, all waiting access units are dropped and counted, and the stream goes on at the next random access point;
// changes of state are never dropped. One reader, any number of writers.
type queue struct {
	mu       sync.Mutex // guards all below but wake
	items    []item
	units    int
	bytes    int
	skipping bool // until the next random access point
	dropped  uint64

	wake chan struct{} // buffered 1: something came
}

func newQueue() *queue { return &queue{wake: make(chan struct{}, 1)} }

// PutUnit never blocks.
func (q *queue) PutUnit(u camera.AccessUnit) {
	q.mu.Lock()
	if q.units >= maxQueuedUnits || q.bytes+len(u.Data) > maxQueuedBytes {
		q.dropUnitsLocked()
		q.skipping = true
	}
	if q.skipping && !u.RandomAccess {
		q.dropped++
		q.mu.Unlock()
		return
	}
	q.skipping = false
	q.items = append(q.items, item{unit: u})
	q.units++
	q.bytes += len(u.Data)
	q.mu.Unlock()
	q.signal()
}

// PutStatus never blocks.
func (q *queue) PutStatus(s camera.Status) {
	q.mu.Lock()
	q.items = append(q.items, item{status: &s})
	q.mu.Unlock()
	q.signal()
}

// Get waits for the next item. It returns false when ctx is done.
func (q *queue) Get(ctx context.Context) (item, bool) {
	for {
		if it, ok := q.TryGet(); ok {
			return it, true
		}
		select {
		case <-ctx.Done():
			return item{}, false
		case <-q.wake:
		}
	}
}

// TryGet returns the next item if there is one.
func (q *queue) TryGet() (item, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.items) == 0 {
		return item{}, false
	}
	it := q.items[0]
	q.items[0] = item{}
	q.items = q.items[1:]
	if it.status == nil {
		q.units--
		q.bytes -= len(it.unit.Data)
	}
	return it, true
}

// Dropped is the number of access units dropped so far.
func (q *queue) Dropped() uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.dropped
}

func (q *queue) dropUnitsLocked() {
	kept := q.items[:0]
	for _, it := range q.items {
		if it.status != nil {
			kept = append(kept, it)
		}
	}
	clear(q.items[len(kept):])
	q.items = kept
	q.dropped += uint64(q.units)
	q.units, q.bytes = 0, 0
}

func (q *queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}
