package pipeline

import (
	"sync"
	"time"

	"vmsbridge/agent/camera"
)

// What a camera may have waiting for its decoder: about four seconds of a fast stream, or the bytes
// of two large groups of pictures, whichever is less.
const (
	maxQueuedUnits = 120
	maxQueuedBytes = 24 << 20
)

// item is what a camera's source hands to its pipeline, in order: an access unit or a change of
// state; or a wish, of whoever else.
type item struct {
	unit   camera.AccessUnit
	status *camera.Status
	wish   *heldWish
}

// heldWish is a wish for the still of a moment that may lie in a held group.
type heldWish struct {
	before time.Time
	done   chan struct{} // closed when it was looked after
}

// waits tells whether the item stays when access units are dropped.
func (i item) waits() bool { return i.status != nil || i.wish != nil }

// queue stands between the RTSP reader, which must never wait, and the decoder, which may. When the
// decoder falls behind, all waiting access units are dropped and counted, and the stream goes on at
// the next random access point; changes of state are never dropped. One reader, any number of
// writers.
type queue struct {
	mu       sync.Mutex // guards all below but wake
	items    []item
	units    int
	bytes    int
	skipping bool // until the next random access point
	anew     bool // a unit that began a new stream was dropped: the next one takes its place
	lately   lately
	torn     lately      // counts as dropped what depends on lost packets
	count    func(n int) // told of each drop
	patient  bool        // units may wait for the next one, so that both are looked at together
	newest   time.Time   // of the units
	late     *Late       // ends the waiting

	wake chan struct{} // buffered 1: something came
}

// newQueue makes an empty queue. count is told how many units were dropped, by whoever puts; it
// must not block.
func newQueue(count func(n int)) *queue {
	return &queue{count: count, late: new(Late), wake: make(chan struct{}, 1)}
}

// handler makes a source fill the queue. state is told of each change before it is queued.
func (q *queue) handler(state func(camera.Status)) camera.Handler {
	return camera.Handler{
		OnUnit: func(u camera.AccessUnit) {
			u.Time = u.Time.Truncate(time.Millisecond) // what the wire carries
			q.PutUnit(u)
		},
		OnStatus: func(s camera.Status) { state(s); q.PutStatus(s) },
	}
}

// PutUnit never blocks.
func (q *queue) PutUnit(u camera.AccessUnit) {
	now := time.Now()
	q.mu.Lock()
	q.lately.at(now).came++
	torn := q.torn.at(now)
	if torn.came++; u.Damaged {
		torn.dropped++
	}
	if q.units >= maxQueuedUnits || q.bytes+len(u.Data) > maxQueuedBytes {
		q.lately.at(now).dropped += q.units
		q.dropUnitsLocked()
		q.skipping = true
	}
	if q.skipping && !u.RandomAccess {
		q.lately.at(now).dropped++
		q.count(1)
		q.mu.Unlock()
		return
	}
	u.NewStream = u.NewStream || q.anew
	q.skipping, q.anew = false, false
	q.items = append(q.items, item{unit: u})
	q.units++
	q.bytes += len(u.Data)
	waits := q.waitsLocked(u)
	q.newest = u.Time
	q.mu.Unlock()
	if !waits {
		q.signal()
	}
}

const (
	// patience is how much later than the first a unit is that need not wait for another: at 10 a
	// second two come together, and the first has waited for a tenth of a second.
	patience = 90 * time.Millisecond
	// tooSlow is the least time between two units of a stream in which none waits.
	tooSlow = 150 * time.Millisecond
)

// Patient tells whether units may wait a moment for the next one. The reader is woken once for all
// of them then, and may take them together by Follow.
func (q *queue) Patient(yes bool) {
	q.mu.Lock()
	q.patient = yes
	q.mu.Unlock()
}

// waitsLocked tells whether the newest unit is to wait for the next one. q.mu is held.
func (q *queue) waitsLocked(u camera.AccessUnit) bool {
	step, first := u.Time.Sub(q.newest), q.items[0]
	if !q.patient || u.RandomAccess || step <= 0 || step >= tooSlow || first.waits() ||
		u.Time.Sub(first.unit.Time) >= patience {
		return false
	}
	if q.units == 1 {
		q.late.add(q.wake, time.Now().Add(tooSlow))
	}
	return true
}

// Follow appends the units to a list that may be decoded together with its last one: those which
// wait next, up to most in all. A random access point is the last.
func (q *queue) Follow(units []camera.AccessUnit, most int) []camera.AccessUnit {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.late.remove(q.wake)
	for len(units) < most && !units[len(units)-1].RandomAccess && len(q.items) > 0 && !q.items[0].waits() &&
		!q.items[0].unit.NewStream {
		units = append(units, q.takeLocked().unit)
	}
	return units
}

// PutStatus never blocks.
func (q *queue) PutStatus(s camera.Status) { q.put(item{status: &s}) }

// put never blocks. The item is no unit.
func (q *queue) put(it item) {
	q.mu.Lock()
	q.items = append(q.items, it)
	q.mu.Unlock()
	q.signal()
}

// TryGet returns the next item if there is one; else something comes after the next signal of wake.
func (q *queue) TryGet() (item, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.items) == 0 {
		return item{}, false
	}
	return q.takeLocked(), true
}

// takeLocked removes the oldest item. q.mu is held.
func (q *queue) takeLocked() item {
	it := q.items[0]
	q.items[0] = item{}
	q.items = q.items[1:]
	if !it.waits() {
		q.units--
		q.bytes -= len(it.unit.Data)
	}
	return it
}

// Losing is the share of access units of the last minute that were dropped, and of those that
// depend on packets which never came, each if that happens again and again.
func (q *queue) Losing(now time.Time) (dropped, torn float64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.lately.often(now), q.torn.often(now)
}

// Rate is how many access units came a second, within the last minute; 0 where that is not known.
func (q *queue) Rate(now time.Time) float64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.lately.rate(now)
}

func (q *queue) dropUnitsLocked() {
	kept := q.items[:0]
	for _, it := range q.items {
		if it.waits() {
			kept = append(kept, it)
		}
		q.anew = q.anew || it.unit.NewStream
	}
	clear(q.items[len(kept):])
	q.items = kept
	q.count(q.units)
	q.units, q.bytes = 0, 0
}

func (q *queue) signal() { signal(q.wake) }
