package motion

import (
	"time"

	"vmsbridge/motion/exposure"
)

// The lags of the comparisons with a moment ago. A walking person changes most of its own area
// within the longer one; the shorter one tells what moves right now, so that a single step of the
// picture is not taken for lasting motion.
const (
	longLag  = 220 * time.Millisecond
	shortLag = 100 * time.Millisecond
)

// historySpacing keeps a camera with 60 pictures a second from filling the history with a blink of
// time.
const historySpacing = 30 * time.Millisecond

// history keeps the cells of the last pictures. The newest picture is written into the slot that
// next returns, and becomes part of the history by commit, or is overwritten.
type history struct {
	slots [12]snapshot
	head  int // the slot for the newest picture
	count int // of kept snapshots before head
	last  []uint16
}

type snapshot struct {
	cells   []uint16
	samples []uint16 // of the cells: see sampler
	at      time.Duration
}

func (h *history) resize(cells int, s *exposure.Fitter) {
	for i := range h.slots {
		h.slots[i] = snapshot{cells: make([]uint16, cells), samples: s.Samples()}
	}
	h.head, h.count = 0, 0
}

// clear forgets all pictures but the one in the slot of next.
func (h *history) clear() { h.count = 0 }

// next is where the newest picture goes.
func (h *history) next() *snapshot {
	h.last = h.slots[h.head].cells
	return &h.slots[h.head]
}

// commit keeps the newest picture, unless it follows the one before too closely.
func (h *history) commit() {
	if h.count > 0 && h.slots[h.head].at-h.ago(1).at < historySpacing {
		return
	}
	h.head = (h.head + 1) % len(h.slots)
	h.count = min(h.count+1, len(h.slots)-1)
	// What is older than a picture that is already as old as the long lag is never asked for again.
	// The newest of these gives its cells to the next picture: they are closer to the processor
	// than those of long ago.
	now := h.ago(1).at
	for h.count > 1 && now-h.ago(h.count-1).at >= longLag {
		old := h.ago(h.count)
		free := &h.slots[h.head]
		old.cells, free.cells = free.cells, old.cells
		old.samples, free.samples = free.samples, old.samples
		h.count--
	}
}

// current is the newest picture, before commit.
func (h *history) current() *snapshot { return &h.slots[h.head] }

// ago is the k-th kept picture before the newest, k from 1 to count.
func (h *history) ago(k int) *snapshot {
	return &h.slots[(h.head-k+len(h.slots))%len(h.slots)]
}

// near is the kept picture whose distance from the newest is closest to lag, nil if there is none.
func (h *history) near(lag time.Duration) *snapshot {
	now := h.slots[h.head].at
	var best *snapshot
	for k := 1; k <= h.count; k++ {
		s := h.ago(k)
		if best != nil && (now-s.at-lag).Abs() >= (now-best.at-lag).Abs() {
			break
		}
		best = s
	}
	return best
}

// newest is the cells of the picture that was looked at last.
func (h *history) newest() []uint16 { return h.last }
