package rule_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/motion"
	"vmsbridge/motion/rule"
)

var epoch = time.Date(2026, 11, 23, 7, 0, 0, 0, time.UTC)

const tenth = 100 * time.Millisecond

// walk is a thing over the time: its foot and size at a moment, in fractions of the picture, and
// whether it is there.
type walk func(at time.Duration) (x, foot, wide, high float64, there bool)

// straight goes from one place to another between two moments.
func straight(from, to time.Duration, x0, y0, x1, y1, wide, high float64) walk {
	return func(at time.Duration) (float64, float64, float64, float64, bool) {
		share := float64(at-from) / float64(to-from)
		return x0 + share*(x1-x0), y0 + share*(y1-y0), wide, high, at >= from && at <= to
	}
}

// play shows things to a Watch, ten pictures a second, and gives what it tells.
func play(t *testing.T, c rule.Config, length time.Duration, things ...walk) (all []rule.Change) {
	t.Helper()
	w, err := rule.New(c)
	require.NoError(t, err)
	for at := time.Duration(0); at <= length; at += tenth {
		var list []motion.Thing
		for i, step := range things {
			if x, foot, wide, high, there := step(at); there {
				box := motion.Box{Left: max(0, x-wide/2), Top: max(0, foot-high), Right: min(1, x+wide/2),
					Bottom: min(1, foot)} // the border of the picture cuts what is outside
				if box.Left < box.Right && box.Top < box.Bottom {
					list = append(list, motion.Thing{Track: i + 1, Share: wide * high, Box: box})
				}
			}
		}
		p := motion.Picture{Width: 320, Height: 180, Time: epoch.Add(at)}
		all = append(all, w.Step(p, touching(list))...)
	}
	return append(all, w.Gap()...)
}

// touching makes one thing of those that touch, as the detector does.
func touching(list []motion.Thing) []motion.Thing {
	for i := range list {
		for j := i + 1; j < len(list); j++ {
			a, b := &list[i].Box, list[j].Box
			if a.Left <= b.Right && b.Left <= a.Right && a.Top <= b.Bottom && b.Top <= a.Bottom {
				*a = motion.Box{Left: min(a.Left, b.Left), Top: min(a.Top, b.Top), Right: max(a.Right, b.Right),
					Bottom: max(a.Bottom, b.Bottom)}
				return touching(append(list[:j:j], list[j+1:]...))
			}
		}
	}
	return list
}

func across(points ...[2]float64) rule.Config {
	return rule.Config{Lines: []rule.Line{{ID: "l", Points: points}}}
}

func ways(list []rule.Change) (out []string) {
	for _, c := range list {
		out = append(out, string(c.Direction)+" "+c.Way)
	}
	return out
}

func TestCrossings(t *testing.T) {
	level := across([2]float64{0, 0.5}, [2]float64{1, 0.5})
	upright := across([2]float64{0.5, 0}, [2]float64{0.5, 1})
	short := across([2]float64{0.4, 0.5}, [2]float64{0.6, 0.5})
	bent := across([2]float64{0.2, 0.5}, [2]float64{0.5, 0.5}, [2]float64{0.5, 0.9})
	down := straight(0, 4*time.Second, 0.5, 0.3, 0.5, 0.8, 0.05, 0.2)
	up := straight(0, 4*time.Second, 0.5, 0.8, 0.5, 0.3, 0.05, 0.2)
	right := straight(0, 4*time.Second, 0.1, 0.7, 0.9, 0.7, 0.05, 0.2)
	left := straight(0, 4*time.Second, 0.9, 0.7, 0.1, 0.7, 0.05, 0.2)
	beside := straight(0, 4*time.Second, 0.3, 0.3, 0.3, 0.8, 0.05, 0.2)
	outside := straight(0, 4*time.Second, 0.8, 0.3, 0.8, 0.8, 0.05, 0.2)
	pair := []walk{straight(0, 4*time.Second, 0.4, 0.3, 0.4, 0.8, 0.05, 0.2),
		straight(0, 4*time.Second, 0.47, 0.3, 0.47, 0.8, 0.05, 0.2)}
	meeting := []walk{straight(0, 5*time.Second, 0.1, 0.7, 0.9, 0.7, 0.05, 0.2),
		straight(0, 5*time.Second, 0.9, 0.72, 0.1, 0.72, 0.05, 0.2)}
	queue := []walk{straight(0, 4*time.Second, 0.5, 0.3, 0.5, 0.8, 0.05, 0.1),
		straight(2*time.Second, 6*time.Second, 0.5, 0.3, 0.5, 0.8, 0.05, 0.1)}
	car := straight(0, 500*time.Millisecond, 0.1, 0.7, 0.9, 0.7, 0.2, 0.15)
	joins := func(at time.Duration) (float64, float64, float64, float64, bool) {
		away := max(1.5-at.Seconds(), at.Seconds()-3.5, 0) // from the other, with whom it walks for two seconds
		return 0.1 + 0.16*at.Seconds(), min(0.72+0.3*away, 0.97), 0.05, 0.1, at <= 5*time.Second
	}
	company := []walk{straight(0, 5*time.Second, 0.1, 0.7, 0.9, 0.7, 0.05, 0.1), joins}
	once := func(at time.Duration) (float64, float64, float64, float64, bool) {
		if at == 0 {
			return 0.45, 0.7, 0.05, 0.2, true
		}
		return 0.53 + at.Seconds()/10, 0.7, 0.05, 0.2, at < 3*time.Second
	}
	only := func(c rule.Config, d rule.Direction) rule.Config {
		c.Lines = []rule.Line{{ID: "l", Points: c.Lines[0].Points, Direction: d}}
		return c
	}
	there := func(at time.Duration) (float64, float64, float64, float64, bool) {
		y := 0.3 + 0.4*math.Sin(min(at.Seconds(), 6)*math.Pi/6) // down, and back
		return 0.5, y, 0.05, 0.2, at <= 6*time.Second
	}
	sways := func(at time.Duration) (float64, float64, float64, float64, bool) {
		y := min(0.3+at.Seconds()/10, 0.5)
		if at > 2*time.Second {
			y = 0.5 + 0.01*math.Sin(at.Seconds()*5)
		}
		return 0.5, y, 0.08, 0.2, true
	}
	turns := func(at time.Duration) (float64, float64, float64, float64, bool) {
		y := 0.51 - math.Abs(0.2-at.Seconds()/10) // one step over the line, and back
		return 0.5, y, 0.08, 0.2, at < 4*time.Second
	}
	// A large person, close to the camera, whose feet are below the picture.
	near := straight(0, 4*time.Second, 0.2, 1.2, 0.8, 1.2, 0.2, 0.9)
	enters := straight(0, 3*time.Second, 1.1, 0.8, 0.5, 0.8, 0.2, 0.5)
	entersFast := straight(0, time.Second, 1.05, 0.8, 0.2, 0.8, 0.2, 0.4)
	leaves := straight(0, 1500*time.Millisecond, 0.5, 0.8, 0.93, 0.8, 0.2, 0.5)
	sinks := func(at time.Duration) (float64, float64, float64, float64, bool) { // what is seen of it, as it leaves
		x := 0.5 + 0.2*at.Seconds()
		return x, max(0.2, min(0.8, 0.8-(x-0.9)*8)), 0.2, 0.4, x < 1.08
	}
	stops := func(share float64) walk { // so far behind a line at 0.5
		return func(at time.Duration) (float64, float64, float64, float64, bool) {
			return min(0.2+at.Seconds()/5, 0.5+share), 1.2, 0.3, 0.9, true
		}
	}
	returns := func(at time.Duration) (float64, float64, float64, float64, bool) {
		return min(0.2+at.Seconds()/5, 0.525, 0.525-(at.Seconds()-4)/5), 1.2, 0.3, 0.9, at < 5500*time.Millisecond
	}
	settles := func(at time.Duration) (float64, float64, float64, float64, bool) {
		return min(0.2+at.Seconds()/5, max(0.525, 0.56-max(0, at.Seconds()-1.8)/20)), 1.2, 0.3, 0.9, true
	}
	fidgets := func(at time.Duration) (float64, float64, float64, float64, bool) {
		x := min(0.2+at.Seconds()/5, 0.525)
		if s := at.Seconds(); s > 3.5 && math.Mod(s, 3) < 1.5 {
			x = 0.475
		}
		return x, 1.2, 0.3, 0.9, true
	}
	cutOff := func(at time.Duration) (float64, float64, float64, float64, bool) {
		return 0.95 - max(0, at.Seconds()-1)/5, 0.8, 0.2, 0.5, at < 4*time.Second
	}
	low := across([2]float64{0, 0.5}, [2]float64{1, 0.5})
	aside := across([2]float64{0.92, 0}, [2]float64{0.92, 1})
	for name, c := range map[string]struct {
		config rule.Config
		things []walk
		want   []string
	}{
		"feet below the picture":      {upright, []walk{near}, []string{"b-to-a right"}},
		"stops soon behind it":        {upright, []walk{stops(0.03)}, []string{"b-to-a right"}},
		"stops, and a bit back":       {upright, []walk{settles}, []string{"b-to-a right"}},
		"stops there and fidgets":     {upright, []walk{fidgets}, []string{"b-to-a right"}},
		"is there, cut off, and goes": {across([2]float64{0.94, 0}, [2]float64{0.94, 1}), []walk{cutOff}, nil},
		"stops on it":                 {upright, []walk{stops(0.003)}, nil},
		"stops soon, and goes back":   {upright, []walk{returns}, []string{"b-to-a right", "a-to-b left"}},
		"comes in by the side":        {aside, []walk{enters}, []string{"a-to-b left"}},
		"comes in fast by the side":   {aside, []walk{entersFast}, []string{"a-to-b left"}},
		"leaves by the side":          {aside, []walk{leaves}, []string{"b-to-a right"}},
		"less and less of who leaves": {low, []walk{sinks}, nil},
		"down":                        {level, []walk{down}, []string{"a-to-b down"}},
		"up":                          {level, []walk{up}, []string{"b-to-a up"}},
		"to the right":                {upright, []walk{right}, []string{"b-to-a right"}},
		"to the left":                 {upright, []walk{left}, []string{"a-to-b left"}},
		"the way that counts":         {only(level, rule.AToB), []walk{down}, []string{"a-to-b down"}},
		"the other way":               {only(level, rule.AToB), []walk{up}, nil},
		"any way":                     {only(level, rule.Any), []walk{up}, []string{"b-to-a up"}},
		"past its end":                {short, []walk{outside}, nil},
		"round its end":               {short, []walk{left}, nil},
		"a corner":                    {bent, []walk{down, beside}, []string{"a-to-b down"}},
		"the part behind a corner":    {bent, []walk{left}, []string{"a-to-b left"}},
		"there and back":              {level, []walk{there}, []string{"a-to-b down", "b-to-a up"}},
		"standing on it":              {level, []walk{sways}, nil},
		"one step over it, and back":  {level, []walk{turns}, nil},
		"two side by side":            {level, pair, []string{"a-to-b down", "a-to-b down"}},
		"two who meet":                {upright, meeting, []string{"b-to-a right", "a-to-b left"}},
		"two who walk together":       {upright, company, []string{"b-to-a right", "b-to-a right"}},
		"one after the other":         {level, queue, []string{"a-to-b down", "a-to-b down"}},
		"seen but once before it":     {upright, []walk{once}, nil},
		"five pictures of a fast car": {upright, []walk{car}, []string{"b-to-a right"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := play(t, c.config, 7*time.Second, c.things...)
			require.ElementsMatch(t, c.want, ways(got))
		})
	}
}

// What a crossing says: when, where, who.
func TestCrossingTellsItsMoment(t *testing.T) {
	got := play(t, across([2]float64{0, 0.55}, [2]float64{1, 0.55}), 5*time.Second,
		straight(0, 5*time.Second, 0.3, 0.3, 0.3, 0.8, 0.05, 0.2))
	require.Len(t, got, 1)
	c := got[0]
	require.Equal(t, rule.Crossed, c.Kind)
	require.Equal(t, "l", c.Rule)
	require.Equal(t, "1", c.Object)
	require.Equal(t, [2][2]float64{{0, 0.55}, {1, 0.55}}, c.Part)
	require.WithinDuration(t, epoch.Add(2500*time.Millisecond), c.Start, tenth)
	require.Equal(t, c.Start, c.Last)
	require.Greater(t, c.BestTime, c.Start, "the picture in which it is beyond the line")
	require.InDelta(t, 0.3, (c.Box.Left+c.Box.Right)/2, 0.01)
	require.Greater(t, c.Box.Bottom, 0.55)
}

// What the detector does not know for motion crosses nothing.
func TestOnlyMotionCrosses(t *testing.T) {
	w, err := rule.New(across([2]float64{0, 0.5}, [2]float64{1, 0.5}))
	require.NoError(t, err)
	for i := range 40 {
		y := 0.3 + float64(i)*0.01
		p := motion.Picture{Width: 320, Height: 180, Time: epoch.Add(time.Duration(i) * tenth)}
		require.Empty(t, w.Step(p, []motion.Thing{{Box: motion.Box{Left: 0.5, Top: y - 0.2, Right: 0.6, Bottom: y}}}))
	}
}

// What is left of the light where somebody went out is not them.
func TestWhatIsLeftCrossesNothing(t *testing.T) {
	w, err := rule.New(across([2]float64{0, 0.6}, [2]float64{1, 0.6}))
	require.NoError(t, err)
	for i := range 50 {
		x, thing := 0.5+float64(i)*0.02, motion.Thing{Box: motion.Box{Left: 0.8, Top: 0.1, Right: 0.97, Bottom: 0.45}}
		if x < 1 {
			thing = motion.Thing{Track: 1, Box: motion.Box{Left: x - 0.1, Top: 0.3, Right: min(1, x+0.1), Bottom: 0.8}}
		}
		p := motion.Picture{Width: 320, Height: 180, Time: epoch.Add(time.Duration(i) * tenth)}
		require.Empty(t, w.Step(p, []motion.Thing{thing}))
	}
}

func yard(loiter time.Duration) rule.Config {
	return rule.Config{Areas: []rule.Area{{ID: "yard", Intrusion: true, Loiter: loiter,
		Outline: motion.Polygon{{0.4, 0.2}, {0.8, 0.2}, {0.8, 1}, {0.4, 1}}}}}
}

// stays walks in, stands from one moment to another, and walks out.
func stays(from, to time.Duration) walk {
	return func(at time.Duration) (float64, float64, float64, float64, bool) {
		switch {
		case at < from:
			return 0.6 - 0.1*(from-at).Seconds(), 0.7, 0.06, 0.3, true
		case at < to:
			return 0.6, 0.7, 0.06, 0.3, true
		}
		x := 0.6 + 0.1*(at-to).Seconds()
		return x, 0.7, 0.06, 0.3, x < 0.95
	}
}

func TestAreas(t *testing.T) {
	at := func(c rule.Change) float64 { return c.Start.Sub(epoch).Seconds() }
	got := play(t, yard(5*time.Second), 24*time.Second, stays(4*time.Second, 16*time.Second))
	require.Len(t, got, 4)
	require.Equal(t, []rule.Kind{rule.IntrusionBegan, rule.LoiterBegan, rule.IntrusionEnded, rule.LoiterEnded},
		[]rule.Kind{got[0].Kind, got[1].Kind, got[2].Kind, got[3].Kind})
	require.InDelta(t, 2, at(got[0]), 0.25, "it enters")
	require.InDelta(t, 7, at(got[1]), 0.25, "the set time after")
	require.Equal(t, got[0].Start, got[2].Start)
	require.InDelta(t, 18, got[2].Last.Sub(epoch).Seconds(), 0.3, "it leaves")
	require.Equal(t, "yard", got[0].Rule)

	got = play(t, yard(5*time.Second), 10*time.Second, straight(0, 8*time.Second, 0.2, 0.7, 1, 0.7, 0.06, 0.3))
	require.Len(t, got, 2, "who only passes does not loiter: %v", got)

	got = play(t, yard(5*time.Second), 24*time.Second, stays(4*time.Second, 16*time.Second),
		straight(20*time.Second, 24*time.Second, 0.3, 0.9, 0.6, 0.9, 0.06, 0.1))
	require.Len(t, got, 6)
	require.Equal(t, rule.IntrusionEnded, got[5].Kind, "the end of the stream ends it")
}

// Who is cut off by the border is in an area that ends there; who stops soon behind its outline has
// left it.
func TestAreasAtTheBorder(t *testing.T) {
	got := play(t, yard(0), 6*time.Second, straight(0, 5*time.Second, 0.2, 1.2, 0.7, 1.2, 0.2, 0.9))
	require.Len(t, got, 2)
	require.InDelta(t, 2, got[0].Start.Sub(epoch).Seconds(), 0.3)
	got = play(t, yard(0), 12*time.Second, func(at time.Duration) (float64, float64, float64, float64, bool) {
		return min(0.2+at.Seconds()/5, 0.83), 0.9, 0.3, 0.8, true
	})
	require.Len(t, got, 2)
	require.InDelta(t, 4, got[1].Last.Sub(epoch).Seconds(), 1.2, "it left, and stands beside")
}

// Somebody who stands still for some seconds, and so is not seen, is the same when seen again.
func TestWhoStandsIsNotForgotten(t *testing.T) {
	seen := stays(4*time.Second, 16*time.Second)
	hides := func(at time.Duration) (x, foot, wide, high float64, there bool) {
		x, foot, wide, high, there = seen(at)
		return x, foot, wide, high, there && (at < 6*time.Second || at > 13*time.Second)
	}
	got := play(t, yard(9*time.Second), 24*time.Second, hides)
	require.Len(t, got, 4)
	require.WithinDuration(t, got[0].Start.Add(9*time.Second), got[1].Start, time.Millisecond)
}

func TestGapAndStepsOfTheClock(t *testing.T) {
	w, err := rule.New(yard(0))
	require.NoError(t, err)
	step := func(at time.Duration, x float64) []rule.Change {
		return w.Step(motion.Picture{Width: 320, Height: 180, Time: epoch.Add(at)}, []motion.Thing{{Track: 1,
			Box: motion.Box{Left: x - 0.03, Top: 0.4, Right: x + 0.03, Bottom: 0.7}}})
	}
	open := func(from time.Duration) {
		var began []rule.Change
		for i := range 30 {
			began = append(began, step(from+time.Duration(i)*tenth, 0.3+float64(i)*0.01)...)
		}
		require.Len(t, began, 1)
	}
	open(0)
	require.Empty(t, step(time.Second, 0.5), "a picture that comes late is left out")
	require.Len(t, w.Gap(), 1)
	require.Empty(t, w.Gap())
	open(time.Minute)
	require.Len(t, step(2*time.Minute, 0.5), 1, "a pause ends it")
	open(3 * time.Minute)
	require.Len(t, step(0, 0.5), 1, "a clock that was set back ends it")
	require.Empty(t, w.Step(motion.Picture{}, nil))
}

func TestValidate(t *testing.T) {
	ok := [][2]float64{{0, 0}, {1, 1}}
	for want, c := range map[string]rule.Config{
		`check line 1: it has no id`:                                         {Lines: []rule.Line{{Points: ok}}},
		`check line 2: the id "l" is there twice`:                            {Lines: []rule.Line{{ID: "l", Points: ok}, {ID: "l", Points: ok}}},
		`check line 1 ("l"): a line needs at least 2 points, this one has 1`: across([2]float64{0, 0}),
		`check line 1 ("l"): point 2 (2, 0) is outside 0..1`:                 across([2]float64{0, 0}, [2]float64{2, 0}),
		`check line 1 ("l"): points 1 and 2 are the same`:                    across([2]float64{0, 0}, [2]float64{0, 0}),
		`check line 1 ("l"): the direction "up" is none of any, a-to-b, b-to-a`: {Lines: []rule.Line{{ID: "l",
			Points: ok, Direction: "up"}}},
		`check area 1 ("a"): an area needs at least 3 points, this one has 2`: {Areas: []rule.Area{{ID: "a",
			Outline: motion.Polygon(ok)}}},
		`check area 1 ("a"): loiter -1s is negative`: {Areas: []rule.Area{{ID: "a", Loiter: -time.Second,
			Outline: motion.Polygon{{0, 0}, {1, 0}, {1, 1}}}}},
	} {
		_, err := rule.New(c)
		require.ErrorContains(t, err, want)
	}
}

// A picture in which nothing new comes costs no memory.
func TestStepAllocatesNothing(t *testing.T) {
	c := across([2]float64{0, 0.95}, [2]float64{1, 0.95})
	c.Areas = yard(time.Hour).Areas
	w, err := rule.New(c)
	require.NoError(t, err)
	i := 0
	step := func() {
		x := 0.5 + 0.1*math.Sin(float64(i)/10)
		i++
		list := [2]motion.Thing{{Track: 1, Box: motion.Box{Left: x, Top: 0.4, Right: x + 0.06, Bottom: 0.7}},
			{Track: 2, Box: motion.Box{Left: x - 0.4, Top: 0.4, Right: x - 0.34, Bottom: 0.7}}}
		w.Step(motion.Picture{Width: 320, Height: 180, Time: epoch.Add(time.Duration(i) * tenth)}, list[:])
	}
	for range 50 {
		step()
	}
	require.Zero(t, testing.AllocsPerRun(100, step))
}
