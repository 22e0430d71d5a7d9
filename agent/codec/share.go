package codec

import (
	"iter"
	"time"
)

// Stage is how a camera is decoded, by what it costs.
type Stage int

// The stages.
const (
	Shared        Stage = iota // in a process with others
	Alone                      // in a process of its own, which yields to others
	KeyframesOnly              // and of its stream only keyframes, as many as its share allows
)

// String is the stage as a part of a sentence.
func (s Stage) String() string {
	return [...]string{"in a process with others", "in a process of its own",
		"in a process of its own, by its keyframes only"}[s]
}

// Load is what a camera costs.
type Load struct {
	Use    float64   // of one processor, in the last seconds
	Budget float64   // of one processor, that it may take in its stage
	Stage  Stage     // what was done about it
	Since  time.Time // of the stage
}

// What is watched: windows long enough for a few groups of pictures, and short enough that
// neighbours' pictures, which wait meanwhile, are not dropped (agent/pipeline holds some ten
// seconds of a camera).
const (
	windowTime  = 5 * time.Second // shorter in tests
	longCall    = time.Second     // one picture of so much time is reason enough
	calmTime    = 5 * time.Minute // within its budget for so long, a camera goes back a stage
	longestRest = time.Hour       // it doubles each time that the camera is over again
	patience    = 3 * time.Second // a move waits so long for a keyframe
	crowded     = 0.8             // of its one processor: a process with no time left
)

// shares is the bookkeeping of decoding time, in seconds of processor. Not safe for concurrent use.
type shares struct {
	processors float64
	perProcess int // two at least: nobody's share is a whole processor
	window     time.Duration
	owners     map[string]*share
}

// share is one camera's.
type share struct {
	stage  Stage
	since  time.Time
	budget float64 // of the stage, as last judged

	began time.Time     // the window
	spent time.Duration // in it
	use   float64       // in the one before
	over  int           // windows in a row over the budget; one far over counts double

	calm   time.Time     // since when it is well within its budget; zero: it is not
	rest   time.Duration // of calm before it goes back
	credit time.Duration // with KeyframesOnly: what it may spend now
	filled time.Time     // when credit was last added to
}

func newShares(processors, perProcess int) *shares {
	return &shares{processors: float64(processors), perProcess: max(perProcess, 2), window: windowTime,
		owners: map[string]*share{}}
}

func (s *shares) of(owner string, now time.Time) *share {
	o := s.owners[owner]
	if o == nil {
		o = &share{since: now, began: now, rest: calmTime, budget: 1 / float64(s.perProcess)}
		s.owners[owner] = o
	}
	return o
}

// charge notes what a call of owner cost, and answers whether its stage has changed. crowd is the
// others of its process.
func (s *shares) charge(owner string, cost time.Duration, now time.Time, crowd iter.Seq[string]) (changed bool) {
	o := s.of(owner, now)
	o.spent += cost
	o.credit -= cost
	before := o.stage
	if o.stage == Shared && cost > longCall {
		s.enter(o, Alone, now)
	}
	if now.Sub(o.began) >= s.window {
		o.use = o.spent.Seconds() / now.Sub(o.began).Seconds()
		o.began, o.spent = now, 0
		s.judge(owner, o, now, crowd)
	}
	return o.stage != before
}

// judge looks at a window that has passed.
func (s *shares) judge(owner string, o *share, now time.Time, crowd iter.Seq[string]) {
	over := false
	o.budget, over = s.budget(owner, o, now, crowd)
	switch {
	case !over:
		o.over = 0
	case o.use > 2*o.budget:
		o.over += 2
	default:
		o.over++
	}
	enough := 2
	if o.stage == Shared && company(owner, crowd) && s.most(owner, now, crowd) {
		enough = 1 // its neighbours wait for it
	}
	if o.over >= enough && o.stage != KeyframesOnly {
		s.enter(o, o.stage+1, now)
		return
	}
	within := o.use <= 0.7*o.budget
	if o.stage == Alone {
		within = o.use <= 0.7/float64(s.perProcess) // of what it may take in company
	}
	switch {
	case o.stage == Shared:
		if now.Sub(o.since) >= longestRest {
			o.rest = calmTime
		}
	case !within:
		o.calm = time.Time{}
	case o.calm.IsZero():
		o.calm = now
	case now.Sub(o.calm) >= o.rest:
		rest := min(2*o.rest, longestRest) // should it come again
		s.enter(o, o.stage-1, now)
		o.rest = rest
	}
}

// company says whether a camera shares its process with others.
func company(owner string, crowd iter.Seq[string]) bool {
	for other := range crowd {
		if other != owner {
			return true
		}
	}
	return false
}

// budget is what a camera may take in its stage, and whether it takes more. In company that is a
// process's time divided by its cameras; where nobody shares its process with it, a processor;
// alone, its share of half the machine, but only once decoding takes that half, or it keeps one
// busy.
func (s *shares) budget(owner string, o *share, now time.Time, crowd iter.Seq[string]) (budget float64, over bool) {
	place := 1 / float64(s.perProcess)
	if o.stage == Shared && !company(owner, crowd) {
		return crowded, o.use > crowded
	}
	if o.stage == Shared {
		return place, o.use > place || s.greatest(owner, now, crowd)
	}
	total, active := 0.0, 0
	for _, other := range s.owners {
		use := s.now(other, now)
		total += use
		if use > 0 {
			active++
		}
	}
	half := s.processors / 2
	budget = min(max(half/float64(max(active, 1)), place), crowded)
	return budget, active > 1 && (o.use > crowded || total > half && o.use > budget)
}

// most says whether a camera takes two thirds of what its process does.
func (s *shares) most(owner string, now time.Time, crowd iter.Seq[string]) bool {
	return s.owners[owner].use > s.total(crowd, now)*2/3
}

// total is what some cameras use.
func (s *shares) total(crowd iter.Seq[string], now time.Time) (use float64) {
	for owner := range crowd {
		if o := s.owners[owner]; o != nil {
			use += s.now(o, now)
		}
	}
	return use
}

// greatest says whether a process that cameras share has no time left and this one takes most of
// it.
func (s *shares) greatest(owner string, now time.Time, crowd iter.Seq[string]) bool {
	own, total := s.owners[owner].use, s.owners[owner].use
	for other := range crowd {
		if o := s.owners[other]; o != nil && other != owner {
			use := s.now(o, now)
			if use > own {
				return false
			}
			total += use
		}
	}
	return total > crowded
}

// now is the use of the last window; less if it is long over.
func (s *shares) now(o *share, now time.Time) float64 {
	if d := now.Sub(o.began); d > 2*s.window {
		return o.spent.Seconds() / d.Seconds()
	}
	return o.use
}

func (s *shares) enter(o *share, stage Stage, now time.Time) {
	o.stage, o.since, o.over, o.calm = stage, now, 0, time.Time{}
	o.credit, o.filled = 0, now
}

// wants says whether an access unit of owner should be decoded now.
func (s *shares) wants(owner string, keyframe bool, now time.Time) bool {
	o := s.owners[owner]
	if o == nil || o.stage != KeyframesOnly {
		return true
	}
	if !keyframe {
		return false
	}
	o.credit = min(o.credit+time.Duration(o.budget*float64(now.Sub(o.filled))), s.window/5)
	o.filled = now
	return o.credit >= 0
}
