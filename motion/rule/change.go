package rule

import (
	"time"

	"vmsbridge/motion"
)

// Kind says what happened.
type Kind uint8

// The kinds of changes: a line was crossed, which is a moment; something is in an area, or has been
// there for too long, which are spans and begin and end.
const (
	Crossed Kind = iota + 1
	IntrusionBegan
	IntrusionEnded
	LoiterBegan
	LoiterEnded
)

// Began tells whether a span begins.
func (k Kind) Began() bool { return k == IntrusionBegan || k == LoiterBegan }

// Change is a crossing, or the begin or the end of a span.
type Change struct {
	Kind Kind
	Rule string // the ID of the line or area
	// Direction, Way and Part are of a crossing: which way along the line's sides, whether that is
	// up, down, left or right in the picture, and across which part of the line.
	Direction Direction
	Way       string
	Part      [2][2]float64
	// Object tells the thing: the number of its track in the detector (motion.Change.Object), and a
	// dot and a number behind it from the second thing of that track on. Of a span it is the first
	// that was inside.
	Object string
	// Start is the moment of the crossing, of the entry, or at which the set time was over; Last,
	// of a span, when something was last inside. Both lie up to some seconds before the picture.
	Start, Last time.Time
	// Box is where the thing was at the time BestTime: for a crossing and a begin in the newest
	// picture, for an end where most of it was in sight.
	Box      motion.Box
	BestTime time.Time
}
