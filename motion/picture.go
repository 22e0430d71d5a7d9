package motion

import "time"

// Picture is one picture's luma plane.
type Picture struct {
	// Luma holds full-range luma, 0..255, row after row. It is the caller's, only read, and not
	// kept after Step.
	Luma []byte
	// Width and Height are in pixels, Stride is the distance of two rows in bytes, at least Width.
	// A picture that is larger than the usual 57,600 pixels is accepted, but costs more.
	Width, Height, Stride int
	// Time is the capture time. Pictures come in the order of their times.
	Time time.Time
}

// valid tells whether the plane has the size that it says.
func (p Picture) valid() bool {
	return p.Width > 0 && p.Height > 0 && p.Stride >= p.Width && p.Width <= 1<<16 && p.Height <= 1<<16 &&
		len(p.Luma) >= (p.Height-1)*p.Stride+p.Width
}

// Box is a rectangle in fractions 0..1 of the picture.
type Box struct{ Left, Top, Right, Bottom float64 }

// meets reports whether two boxes have a part in common.
func (b Box) meets(c Box) bool {
	return b.Left < c.Right && c.Left < b.Right && b.Top < c.Bottom && c.Top < b.Bottom
}

// Result is what one picture led to. Its slices are valid until the next call of a method of the
// Detector.
type Result struct {
	// Activity is what this picture alone shows.
	Activity Activity
	// Candidate is true from the first picture that may turn out to be the start of a span until it
	// is confirmed or dismissed.
	Candidate bool
	// Moving tells that at least one span is open.
	Moving bool
	// Changes are the spans that began or ended with this picture, in the order in which to report
	// them.
	Changes []Change
}

// Activity is what moves in one picture, before any decision over time.
type Activity struct {
	// Share is the share of the picture's cells that belong to something that moves, 0..1.
	Share float64
	// Boxes are the areas of what moves; nil when nothing does.
	Boxes []Box
	// Learning is true for the first moments, in which the background is not yet known and nothing
	// is reported.
	Learning bool
	// Global tells that the light of the whole scene changed.
	Global bool
}

// ChangeKind says what happened to a span.
type ChangeKind uint8

// The kinds of changes.
const (
	Began ChangeKind = iota + 1
	Ended
)

// String returns "began" or "ended".
func (k ChangeKind) String() string {
	switch k {
	case Began:
		return "began"
	case Ended:
		return "ended"
	}
	return "unknown"
}

// Change is the begin or the end of a span. Of one region, a span ends before the next begins.
type Change struct {
	Kind ChangeKind
	// Region is "" for the whole picture, else the Region.ID.
	Region string
	// Object is the number of the track that opened the span, such as "1"; a track's number is
	// never used again by a Detector.
	Object string
	// Start and Last are the times of the first and the last picture with motion; at Began, Start
	// lies up to about half a second back.
	Start, Last time.Time
	// Boxes are at Began what moves now, at Ended what moved at BestTime.
	Boxes []Box
	// BestTime is the time of the picture that shows most of the largest thing; where the border
	// cuts it, half of that counts.
	BestTime time.Time
	// Objects are the things that moved in the span up to now, each once, the largest first: at
	// Ended all of them, the eight largest if there were more.
	Objects []Object
	// Continued marks an end by MaxDuration, and the begin that follows it.
	Continued bool
}

// Object is one thing of a span, as its track followed it from picture to picture.
type Object struct {
	// ID is the number of the track, as in Change.Object: the same thing has it in the spans of all
	// regions, in a continued span, and at Began and Ended.
	ID string
	// Box is where the thing was when the largest area of it was in sight within the span, and Time
	// when that was.
	Box  Box
	Time time.Time
}
