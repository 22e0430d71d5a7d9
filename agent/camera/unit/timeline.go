package unit

import "time"

// TickRate is how many ticks a second RTP time has, for video of any kind.
const TickRate = 90000

// How the timeline behaves; see Timeline.
const (
	envelopeBuckets = 10 // seconds over which the earliest arrival counts
	slewPerSecond   = 5 * time.Millisecond
	jumpAfter       = time.Second             // further from arrival than this is a jump, not jitter
	lateFor         = 2 * time.Second         // ... if it lasts
	minSpacing      = time.Millisecond        // between pictures whose time had to be invented
	clampedFrom     = 50 * time.Millisecond   // a smaller correction is ordinary jitter and not counted
	reorderSpan     = 1500 * time.Millisecond // how far back a B-frame may reach
	maxReorder      = 16                      // and how many may follow each other
	historyLen      = 32
)

// Timeline places the pictures of one session on the wall clock.
//
// RTP timestamps say precisely how far apart pictures were taken, arrival says roughly when. A
// picture's time is therefore its RTP time plus an offset, and the offset is the smallest (arrival
// - RTP time) of the last ten seconds: packets can be late, never early, so the earliest are
// nearest to the truth. A burst at the start or a stall in the network does not move it. It follows
// downwards at once (a picture is never from the future) and upwards by 5 ms per second.
//
// When RTP time jumps, stands still or runs wild, the picture gets its arrival time and the offset
// starts anew ("era"). After three eras in a minute RTP time is not believed any more in this
// session. The result strictly increases in presentation order whatever the camera says. It is not
// safe for concurrent use.
type Timeline struct {
	floor int64 // nothing may be at or before this; the newest time of all earlier eras and sessions

	began    bool
	lastRTP  uint32
	lastTick int64 // unwrapped RTP time of the last unit in decode order
	maxTick  int64 // largest in this era
	offset   int64 // ns
	lastSlew int64
	buckets  [envelopeBuckets]envelopeBucket
	history  []placed // of this era, sorted by tick
	newest   int64    // largest time handed out

	lateSince, lateMin int64
	lateUnits          int
	eras               []int64 // arrivals of recent re-anchorings
	byArrival          bool
	behind             int // units in a row that went back in RTP time

	clamped, reanchored uint64
}

type envelopeBucket struct{ second, min int64 }

type placed struct{ tick, at int64 }

// NewTimeline makes one whose times are all behind floor, in ns since 1970.
func NewTimeline(floor int64) *Timeline { return &Timeline{floor: floor, newest: floor} }

// TickNanos is how long so many ticks of RTP time are, in ns.
func TickNanos(tick int64) int64 { return tick * (int64(time.Second) / 10000) / (TickRate / 10000) }

// Faults is how often a picture got another time than RTP time says, and how often RTP time was
// given up for arrival.
func (t *Timeline) Faults() (clamped, reanchored uint64) { return t.clamped, t.reanchored }

// Newest is the largest time that was given.
func (t *Timeline) Newest() int64 { return t.newest }

// Place returns the time of a picture in ns since 1970. arrival is that of its first packet.
// reorder says that the stream may hold B-frames, so that a somewhat smaller RTP time is no fault.
func (t *Timeline) Place(rtp uint32, arrival int64, reorder bool, step Step) int64 {
	if !t.began {
		t.began, t.lastRTP, t.lastSlew = true, rtp, arrival
		t.anchor(arrival)
		return t.settle(t.lastTick, arrival, arrival)
	}
	delta := int64(int32(rtp - t.lastRTP))
	tick := t.lastTick + delta
	t.lastRTP, t.lastTick = rtp, tick
	at := TickNanos(tick) + t.offset

	back := TickNanos(t.maxTick - tick)
	if back > 0 {
		t.behind++
	} else {
		t.behind = 0
	}
	switch {
	case step == SetForward:
		t.reanchor(arrival)
		return t.settle(tick, arrival, arrival)
	case delta == 0: // no timestamp of its own
		t.clamped++
		tick = t.maxTick + 1
		t.lastTick = tick
		t.offset = arrival - TickNanos(tick) // RTP time may go on from here at any moment
		return t.settle(tick, arrival, arrival)
	case back > 0 && (!reorder || back > int64(reorderSpan) || t.behind > maxReorder), at > arrival+int64(jumpAfter):
		t.clamped++
		t.reanchor(arrival)
		return t.settle(tick, arrival, arrival)
	case t.late(tick, arrival, at):
		t.clamped++
		t.reanchor(t.lateMin + TickNanos(tick))
		return t.settle(tick, min(t.lateMin+TickNanos(tick), arrival), arrival)
	}
	if t.byArrival {
		t.clamped++
		if back <= 0 {
			t.offset = arrival - TickNanos(tick)
		}
		return t.settle(tick, TickNanos(tick)+t.offset, arrival)
	}
	t.follow(tick, arrival)
	return t.settle(tick, TickNanos(tick)+t.offset, arrival)
}

// follow takes a unit into the envelope and moves the offset.
func (t *Timeline) follow(tick, arrival int64) {
	second := arrival / int64(time.Second)
	diff := arrival - TickNanos(tick)
	b := &t.buckets[second%envelopeBuckets]
	if b.second != second || diff < b.min {
		*b = envelopeBucket{second, diff}
	}
	lowest := diff
	for _, b := range t.buckets {
		if b.second > second-envelopeBuckets && b.second <= second && b.min < lowest {
			lowest = b.min
		}
	}
	elapsed := min(max(arrival-t.lastSlew, 0), int64(time.Second))
	t.lastSlew = arrival
	if lowest < t.offset {
		t.offset = lowest
	} else {
		t.offset += min(lowest-t.offset, elapsed*int64(slewPerSecond)/int64(time.Second))
	}
}

// late notices RTP time that has fallen behind for good: every unit of the last two seconds more
// than a second late.
func (t *Timeline) late(tick, arrival, at int64) bool {
	if arrival-at <= int64(jumpAfter) {
		t.lateUnits = 0
		return false
	}
	diff := arrival - TickNanos(tick)
	if t.lateUnits == 0 {
		t.lateSince, t.lateMin = arrival, diff
	}
	t.lateUnits++
	t.lateMin = min(t.lateMin, diff)
	return t.lateUnits > 1 && arrival-t.lateSince >= int64(lateFor)
}

// anchor starts an era in which the last tick is at the given time.
func (t *Timeline) anchor(at int64) {
	t.floor = max(t.floor, t.newest)
	t.offset = at - TickNanos(t.lastTick)
	t.maxTick = t.lastTick
	t.history = t.history[:0]
	t.buckets = [envelopeBuckets]envelopeBucket{}
	t.lateUnits, t.behind = 0, 0
}

func (t *Timeline) reanchor(at int64) {
	t.reanchored++
	t.anchor(at)
	kept := t.eras[:0]
	for _, e := range t.eras {
		if at-e < int64(time.Minute) {
			kept = append(kept, e)
		}
	}
	t.eras = append(kept, at)
	if len(t.eras) >= 3 {
		t.byArrival = true
	}
}

// settle fits a time between those of its neighbours in presentation order and remembers it.
func (t *Timeline) settle(tick, want, arrival int64) int64 {
	at := min(want, arrival)
	i := len(t.history)
	for i > 0 && t.history[i-1].tick > tick {
		i--
	}
	lo, hi := t.floor, int64(1)<<62
	if i > 0 {
		lo = max(lo, t.history[i-1].at)
	}
	if i < len(t.history) {
		hi = t.history[i].at
	}
	switch {
	case at <= lo || at >= hi || at/1000 == lo/1000 || at/1000 == hi/1000:
		if room := hi - lo; room > 2*int64(minSpacing) {
			at = min(max(at, lo+int64(minSpacing)), hi-int64(minSpacing))
		} else {
			at = lo + room/2
		}
	}
	at = at / 1000 * 1000
	if at <= lo || at >= hi { // no room left between two neighbours: after everything
		at = (t.newest/1000 + 1) * 1000
		tick = t.maxTick + 1
		i = len(t.history)
	}
	if d := at - want; d > int64(clampedFrom) || d < -int64(clampedFrom) {
		t.clamped++
	}
	if len(t.history) == historyLen {
		if i == 0 { // older than all that is remembered; cannot happen within reorderSpan of sane streams
			i = 1
		}
		t.floor = max(t.floor, t.history[0].at)
		copy(t.history, t.history[1:])
		t.history = t.history[:historyLen-1]
		i--
	}
	t.history = append(t.history, placed{})
	copy(t.history[i+1:], t.history[i:])
	t.history[i] = placed{tick, at}
	t.maxTick = max(t.maxTick, tick)
	t.newest = max(t.newest, at)
	return at
}
