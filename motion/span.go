package motion

import (
	"strconv"
	"time"

	"vmsbridge/motion/track"
)

// maxBoxes bounds the boxes of a Change and of Activity.
const maxBoxes = 8

// span is the state of one region, or of the whole picture.
type span struct {
	region   string
	share    float64 // of the picture that must move inside
	contrast float64 // that must differ, as contrastFor says
	keen     bool    // it wants what is smaller and fainter than the default

	seenAt   time.Duration // last picture with anything that may move inside
	first    time.Time
	inside   time.Duration // how long something moved inside, in that row
	waiting  bool          // confirmed, but not yet as long as MinDuration
	open     bool
	object   int
	start    time.Time
	last     time.Time
	lastAt   time.Duration
	began    time.Duration // when the span, or its continuation, was opened
	ended    time.Time     // Last of the span before
	bestArea int
	bestTime time.Time
	best     []Box
	things   []thing // that moved in this span, at most maxBoxes
}

// spanFor is the span of a region, "" for the whole picture.
func spanFor(region string, sensitivity float64) span {
	return span{region: region, share: shareFor(sensitivity), contrast: float64(contrastFor(sensitivity)),
		keen: sensitivity > DefaultSensitivity}
}

// change is the Change of kind for the span. The boxes are the span's own: they stay as they are
// until it takes another step.
func (s *span) change(kind ChangeKind, continued bool) Change {
	return Change{Kind: kind, Region: s.region, Object: strconv.Itoa(s.object), Start: s.start, Last: s.last,
		Boxes: s.best, BestTime: s.bestTime, Objects: objectsOf(s.things), Continued: continued}
}

// evidence is what one picture says about one region.
type evidence struct {
	track  *track.Track // a confirmed one that moves inside, nil if there is none
	may    bool         // something may move inside
	boxes  []Box        // of those
	things []thing
	at, dt time.Duration
	wall   time.Time
}

// step takes one picture into the span, and appends what changed.
func (s *span) step(e evidence, c Config, changes []Change) []Change {
	if e.may {
		if e.at-s.seenAt > max(track.GoneAfter, 2*e.dt) || s.first.IsZero() {
			s.first, s.inside = e.wall, 0
		}
		s.seenAt = e.at
		s.inside += e.dt
	}
	moves := e.track != nil && (s.open || s.waiting || s.inside >= 2*e.dt || s.inside >= track.ConfirmActive)
	if moves {
		if !s.open && !s.waiting {
			s.begin(e)
		} else if s.open && e.at-s.began >= c.MaxDuration {
			changes = append(changes, s.change(Ended, true))
			s.cut(e)
			changes = append(changes, s.change(Began, true))
		}
		s.last, s.lastAt = later(s.last, e.wall), e.at
		if most := largest(e.things); most > s.bestArea {
			s.bestArea, s.bestTime = most, e.wall
			s.best = append(s.best[:0], e.boxes...)
		}
		s.things = meet(s.things, e.things)
	}
	if s.waiting && s.last.Sub(s.start) >= c.MinDuration && moves {
		s.waiting, s.open, s.began = false, true, e.at-e.wall.Sub(s.start)
		changes = append(changes, s.change(Began, false))
	}
	if (s.open || s.waiting) && e.at-s.lastAt >= c.QuietPeriod {
		changes = s.end(changes)
	}
	return changes
}

// begin starts waiting for MinDuration, which may be over at once.
func (s *span) begin(e evidence) {
	s.waiting, s.object = true, e.track.ID
	s.start = e.track.Start
	if s.first.After(s.start) && (s.region != "" || !e.track.Dated) {
		s.start = s.first
	}
	// A span begins after the one before it ended, also when the clock was set back a little.
	if !s.start.After(s.ended) {
		s.start = s.ended.Add(time.Millisecond)
	}
	s.last, s.bestArea, s.best, s.things = s.start, 0, s.best[:0], s.things[:0]
}

// cut goes on with a new span after the one that became too long.
func (s *span) cut(e evidence) {
	s.ended = s.last
	s.start = later(e.wall, s.ended.Add(time.Millisecond))
	s.last, s.began = s.start, e.at
	s.bestArea, s.bestTime = largest(e.things), e.wall
	s.things = s.things[:0]
	s.best = append(s.best[:0:0], e.boxes...) // the boxes of the end before are still on their way out
}

// end closes the span if it is open, and dismisses it if it was only waiting.
func (s *span) end(changes []Change) []Change {
	if s.open {
		changes = append(changes, s.change(Ended, false))
		s.ended = s.last
	}
	s.open, s.waiting, s.inside = false, false, 0
	s.first = time.Time{}
	return changes
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
