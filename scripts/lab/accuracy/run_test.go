package accuracy_test

import (
	"fmt"
	"slices"
	"time"

	"vmsbridge/agent/codec/planar"
	"vmsbridge/motion"
	drawn "vmsbridge/scripts/lab/scene"
)

// trial is one drawn scene that is given to a detector with default settings.
type trial struct {
	row           string // of the table
	name          string
	seed          uint64
	width, height int // of the camera; the detector sees it reduced as the agent reduces it
	rate          int
	told          int // pictures a second as the masks' detector is told, if not rate
	length        time.Duration
}

func (c trial) String() string {
	return fmt.Sprintf("%s, seed %d, %dx%d, %d/s, %v", c.name, c.seed, c.width, c.height, c.rate, c.length)
}

// workPixels is how many pixels of a picture the agent hands to the detector at most.
const workPixels = 57_600

// found is a span that the detector reported, in seconds of the scene.
type found struct{ start, last float64 }

// verdict is what became of a trial.
type verdict struct {
	trial        trial
	events       []found
	walks, found int
	extra, split int
	onset, end   []float64 // errors in seconds, late is positive
	problems     []string
	pictures     int
	spent        time.Duration // in the detector
	drawing      time.Duration
	err          error
}

// try draws the scene and runs it through a detector.
func (c trial) try() verdict {
	v := verdict{trial: c}
	s, err := drawn.New(c.name, drawn.Options{Width: c.width, Height: c.height, Rate: c.rate, Seed: c.seed,
		Length: c.length})
	if err != nil {
		v.err = err
		return v
	}
	d, err := motion.New(motion.Config{})
	if err != nil {
		v.err = err
		return v
	}
	take := func(changes []motion.Change) {
		for _, ch := range changes {
			if ch.Kind == motion.Ended {
				v.events = append(v.events, found{offset(ch.Start), offset(ch.Last)})
			}
		}
	}
	w, h := planar.Fit(c.width, c.height, workPixels)
	luma := make([]byte, c.width*c.height)
	for i := range s.Len() {
		at := time.Now()
		s.Luma(i, luma)
		small := luma
		if w != c.width || h != c.height {
			small = planar.Luma(planar.Image{Y: planar.Plane{Pix: luma, Width: c.width, Height: c.height,
				Stride: c.width}, Width: c.width, Height: c.height, FullRange: true}, w, h)
		}
		drew := time.Now()
		r := d.Step(motion.Picture{Luma: small, Width: w, Height: h, Stride: w,
			Time: epoch.Add(time.Duration(i) * time.Second / time.Duration(c.rate))})
		v.spent += time.Since(drew)
		v.drawing += drew.Sub(at)
		v.pictures++
		take(r.Changes)
	}
	take(d.Gap())
	v.judge(s)
	return v
}

const (
	joins   = 1.5 // seconds: walks closer than the quiet period are one
	nearby  = 1.0 // an event this close to someone who is there is not an extra one
	settled = 5.0 // the detector is given this long to learn a place
)

// judge compares what was found with what is true.
func (v *verdict) judge(s *drawn.Scene) {
	var walks []found
	for _, t := range s.Spans() {
		w := found{t.Start.Seconds(), t.End.Seconds()}
		if n := len(walks); n > 0 && w.start-walks[n-1].last < joins {
			walks[n-1].last = w.last
			continue
		}
		walks = append(walks, w)
	}
	rate := float64(s.Rate())
	present := func(t float64) bool { i := int(t * rate); return i >= 0 && i < s.Len() && s.Present(i) }
	slices.SortFunc(v.events, func(a, b found) int { return int(1000 * (a.start - b.start)) })
	for k, w := range walks {
		v.walks++
		before, after := -1e9, 1e9
		if k > 0 {
			before = walks[k-1].last
		}
		if k+1 < len(walks) {
			after = walks[k+1].start
		}
		var mine []found
		for _, e := range v.events {
			if e.start < w.last && e.last >= w.start {
				mine = append(mine, e)
			}
		}
		if len(mine) == 0 {
			v.problems = append(v.problems, fmt.Sprintf("not found: the walk from %.1f s to %.1f s", w.start, w.last))
			continue
		}
		v.found++
		if e := mine[0]; e.start > before { // else it goes on from the walk before
			v.onset = append(v.onset, e.start-w.start)
			if d := e.start - w.start; d > 0.35 || d < -0.35 {
				v.problems = append(v.problems,
					fmt.Sprintf("the walk from %.1f s to %.1f s begins at %.2f s, %+.2f s off", w.start, w.last,
						e.start, d))
			}
		}
		if e := mine[len(mine)-1]; e.last < after && w.last < float64(s.Len()-1)/rate && !present(w.last+0.3) {
			v.end = append(v.end, e.last-w.last)
			if d := e.last - w.last; d > 0.8 || d < -0.8 {
				v.problems = append(v.problems,
					fmt.Sprintf("the walk from %.1f s to %.1f s ends at %.2f s, %+.2f s off", w.start, w.last, e.last,
						d))
			}
		}
		for _, e := range mine[1:] {
			v.split++
			v.problems = append(v.problems, fmt.Sprintf("the walk from %.1f s to %.1f s is split at %.2f s", w.start,
				w.last, e.start))
		}
	}
	for _, e := range v.events {
		someone := false
		for t := e.start - nearby; t <= e.last+nearby; t += 0.5 / rate {
			someone = someone || present(t)
		}
		if !someone {
			v.extra++
			v.problems = append(v.problems, fmt.Sprintf("an event from %.2f s to %.2f s while nobody is there", e.start,
				e.last))
		}
	}
}

// percentileOf returns the p-th percentile of the sizes of errors in seconds, 0 if there are none.
func percentileOf(errors []float64, p float64) float64 {
	if len(errors) == 0 {
		return 0
	}
	sizes := make([]float64, 0, len(errors))
	for _, e := range errors {
		sizes = append(sizes, max(e, -e))
	}
	slices.Sort(sizes)
	return sizes[min(len(sizes)-1, int(p*float64(len(sizes))))]
}
