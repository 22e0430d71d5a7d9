package accuracy_test

import (
	"fmt"
	"time"

	"vmsbridge/motion"
	"vmsbridge/motion/tamper"
	drawn "vmsbridge/scripts/lab/scene"
)

// tamperings are the scenes in which someone tampers, innocents those in which it only looks like
// it.
var (
	tamperings = []string{"covered", "sprayed", "blinded", "defocused", "turned", "frozen"}
	innocents  = []string{"quiet", "light-switch", "dimmer", "infrared", "truck", "fog", "clouds", "headlights", "rain",
		"snow", "night", "tree", "shake", "focus", "keyframes", "walker",
		"nearing", "crowd", "fog+truck", "shake+truck", "infrared+nearing", "light-switch+walker"}
)

// within is how soon tampering must be reported.
const within = 10 * time.Second

// tamperTrials are what is run.
func tamperTrials(all bool) []trial {
	guilty, free, long := 1, 1, 40*time.Second
	if all {
		guilty, free, long = max(1, *seeds/2), 3,
			max(40*time.Second, time.Duration(*minutes)*time.Minute/3/time.Second*time.Second)
	}
	var list []trial
	for k, n := range tamperings {
		for i := range guilty {
			list = append(list, trial{row: "tamper: " + n, name: n, seed: uint64(90_000 + 1000*k + i), width: 320,
				height: 180, rate: 10, length: time.Minute})
		}
	}
	for k, n := range innocents {
		for i := range free {
			list = append(list, trial{row: "innocent: " + n, name: n, seed: uint64(100_000 + 1000*k + i), width: 320,
				height: 180, rate: 10, length: long})
		}
	}
	return list
}

// tryTamper runs the scene through a tamper watch. A walk is a tampering here: found if it is
// reported within ten seconds, split if its reason is wrong; onset is how late it is reported. What
// is reported while nobody tampers is an extra event.
func (c trial) tryTamper() verdict {
	v := verdict{trial: c}
	s, err := drawn.New(c.name, drawn.Options{Width: c.width, Height: c.height, Rate: c.rate, Seed: c.seed,
		Length: c.length})
	if err != nil {
		v.err = err
		return v
	}
	w, err := tamper.New(tamper.Config{})
	if err != nil {
		v.err = err
		return v
	}
	truth := s.Tampering()
	v.walks = len(truth)
	seen := make([]bool, len(truth))
	luma := make([]byte, c.width*c.height)
	for i := range s.Len() {
		s.Luma(i, luma)
		at := time.Duration(i) * time.Second / time.Duration(c.rate)
		began := time.Now()
		changes := w.Step(motion.Picture{Luma: luma, Width: c.width, Height: c.height, Stride: c.width,
			Time: epoch.Add(at)})
		v.spent += time.Since(began)
		v.pictures++
		for _, ch := range changes {
			if ch.Kind != tamper.Began {
				continue
			}
			v.events = append(v.events, found{at.Seconds(), at.Seconds()})
			mine := -1
			for k, t := range truth {
				if at > t.Start-20*time.Second && at < t.End+within {
					mine = k
				}
			}
			switch {
			case mine < 0:
				v.extra++
				v.problems = append(v.problems, fmt.Sprintf("%v reported at %.1f s while nobody tampers", ch.Reason,
					at.Seconds()))
			case seen[mine]:
				v.split++
				v.problems = append(v.problems, fmt.Sprintf("%v reported again at %.1f s", ch.Reason, at.Seconds()))
			default:
				seen[mine] = true
				late := at - truth[mine].Start
				v.onset = append(v.onset, max(0, late.Seconds()))
				if late <= within {
					v.found++
				} else {
					v.problems = append(v.problems, fmt.Sprintf("%s since %.1f s is reported at %.1f s only",
						truth[mine].Reason, truth[mine].Start.Seconds(), at.Seconds()))
				}
				if ch.Reason.String() != truth[mine].Reason {
					v.split++
					v.problems = append(v.problems, fmt.Sprintf("%s since %.1f s is reported as %v", truth[mine].Reason,
						truth[mine].Start.Seconds(), ch.Reason))
				}
			}
		}
	}
	for k, t := range truth {
		if !seen[k] {
			v.problems = append(v.problems, fmt.Sprintf("%s from %.1f s to %.1f s is not reported", t.Reason,
				t.Start.Seconds(), t.End.Seconds()))
		}
	}
	return v
}
