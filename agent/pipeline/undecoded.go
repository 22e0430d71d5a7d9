package pipeline

import (
	"sync"
	"time"
)

// Whole is why a camera's pictures are all decoded; "" if groups in which nothing moves are not.
type Whole string

// The reasons. Each is a metric's label, too.
const (
	Learning  Whole = "learning"
	Noise     Whole = "noise"
	Moves     Whole = "motion"
	LongGroup Whole = "group"
	NoIDR     Whole = "no_idr"
	Reordered Whole = "reordered"
	Alone     Whole = "stand_alone"
	Watched   Whole = "stills"
	Restless  Whole = "restless"
	Differs   Whole = "differs"
	Damaged   Whole = "damage"
	Resized   Whole = "size"
	Off       Whole = "off"
)

var wholeTexts = map[Whole]string{
	Learning:  "how large the pictures of the quiet scene are is still being learned",
	Noise:     "the stream codes so much noise that something small would not show in its pictures' sizes",
	Moves:     "something moves, or did a moment ago",
	LongGroup: "its keyframes are more than 4 s apart, or there are none",
	NoIDR:     "its keyframes are no IDR pictures",
	Reordered: "its pictures come out of the decoder later than they go in",
	Alone:     "each of its pictures stands alone",
	Watched:   "stills are wanted more often than keyframes come",
	Restless:  "the keyframes of the quiet scene differ too much from each other",
	Differs:   "a keyframe differs from the one before",
	Damaged:   "data was lost or damaged",
	Resized:   "a picture's size shows that something may move",
	Off:       "decode.gate is false",
}

// Text is the reason in words.
func (w Whole) Text() string { return wholeTexts[w] }

// undecoded is what is told of the access units that stay undecoded. Safe for concurrent use.
type undecoded struct {
	mu     sync.Mutex // guards all below
	lately lately
	why    Whole
	holds  bool // a group is held just now
	known  bool
}

// count notes that so many units came, and how many of those before stayed undecoded.
func (c *undecoded) count(came, left int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.lately.at(time.Now())
	s.came += came
	s.dropped += left
}

// set notes why all is decoded now, and answers what it was before.
func (c *undecoded) set(why Whole) (before Whole, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before, known = c.why, c.known
	c.why, c.holds, c.known = why, why == "", true
	return before, known
}

// now is the share of the units that stayed undecoded in the last minute, and why all are decoded.
func (c *undecoded) now() (share float64, why Whole, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	came, left, _ := c.lately.sum(time.Now())
	return min(1, float64(left)/float64(max(came, 1))), c.why, c.known
}
