package motion_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/motion"
)

var (
	leftHalf  = motion.Polygon{{0, 0}, {0.5, 0}, {0.5, 1}, {0, 1}}
	rightHalf = motion.Polygon{{0.5, 0}, {1, 0}, {1, 1}, {0.5, 1}}
)

// through lets a person walk through from 4 s on, a fifth of the width in a second.
func through(s *scene) func(float64) {
	return func(at float64) {
		if at >= 4 {
			walker(s, -0.08+0.2*(at-4))
		}
	}
}

// TestTwoRegions: each region has spans of its own, besides those of the whole picture.
func TestTwoRegions(t *testing.T) {
	s := newScene(320, 180, 1, 2)
	c := motion.Config{Regions: []motion.Region{{ID: "left", Area: leftHalf}, {ID: "right", Area: rightHalf},
		{ID: "sky", Area: motion.Polygon{{0, 0}, {1, 0}, {1, 0.2}, {0, 0.2}}}}}
	got := watch(t, c, s, 10, 14*time.Second, through(s))
	began, ended := map[string]motion.Change{}, map[string]motion.Change{}
	for _, ch := range got.began {
		require.NotContains(t, began, ch.Region)
		began[ch.Region] = ch
	}
	for _, ch := range got.ended {
		ended[ch.Region] = ch
	}
	require.Len(t, began, 3, "the whole picture, left and right, but not the sky")
	require.Len(t, ended, 3)
	require.InDelta(t, 4.05, offset(began[""].Start), 0.16)
	require.InDelta(t, 4.05, offset(began["left"].Start), 0.16)
	require.InDelta(t, 6.55, offset(began["right"].Start), 0.35)
	require.InDelta(t, 6.95, offset(ended["left"].Last), 0.45)
	require.InDelta(t, 9.4, offset(ended["right"].Last), 0.45)
	require.InDelta(t, 9.4, offset(ended[""].Last), 0.45)
	require.Equal(t, began[""].Object, began["right"].Object)
}

// TestRegionSensitivity: a region finds what is large enough for it, more or less than the camera
// does, and is no matter of the rest of the picture.
func TestRegionSensitivity(t *testing.T) {
	whole := motion.Polygon{{0, 0}, {1, 0}, {1, 1}, {0, 1}}
	for name, c := range map[string]struct {
		small  bool // what moves: a thousandth of the picture, or a person
		camera float64
		region motion.Region
		want   map[string]int
	}{
		"numb region, small": {true, 0.5, motion.Region{ID: "r", Area: whole, Sensitivity: 0.01},
			map[string]int{"": 1}},
		"keen region, small": {true, 0.01, motion.Region{ID: "r", Area: whole, Sensitivity: 0.5},
			map[string]int{"r": 1}},
		"keen region elsewhere, small": {true, 0.01,
			motion.Region{ID: "r", Area: motion.Polygon{{0, 0.9}, {0.1, 0.9}, {0.1, 1}}, Sensitivity: 1},
			map[string]int{}},
		"both alike, small": {true, 0.5, motion.Region{ID: "r", Area: whole},
			map[string]int{"": 1, "r": 1}},
		"numb region, a person": {false, 0.5, motion.Region{ID: "r", Area: whole, Sensitivity: 0.01},
			map[string]int{"": 1, "r": 1}},
		"numb camera, a person": {false, 0.01, motion.Region{ID: "r", Area: whole, Sensitivity: 0.9},
			map[string]int{"": 1, "r": 1}},
		"keen region elsewhere, a person": {false, 0.01,
			motion.Region{ID: "r", Area: motion.Polygon{{0, 0.9}, {0.1, 0.9}, {0.1, 1}}, Sensitivity: 1},
			map[string]int{"": 1}},
	} {
		s := newScene(320, 180, 1, 1)
		got := watch(t, motion.Config{Sensitivity: c.camera, Regions: []motion.Region{c.region}}, s, 10, 14*time.Second,
			func(at float64) {
				if u := -0.08 + 0.15*(at-4); at >= 4 && c.small {
					s.thing(u, 0.62, 0.014, 0.05, 235, 0)
				} else if at >= 4 {
					walker(s, u)
				}
			})
		spans := map[string]int{}
		for _, ch := range got.began {
			spans[ch.Region]++
		}
		require.Equal(t, c.want, spans, name)
		for _, ch := range got.began {
			require.InDelta(t, 4.3, offset(ch.Start), 0.4, name)
		}
	}
}

// TestMaskHides: what moves under a mask is never seen, what moves beside it is.
func TestMaskHides(t *testing.T) {
	s := newScene(320, 180, 1, 2)
	got := watch(t, motion.Config{Masks: []motion.Polygon{{{0, 0.3}, {1, 0.3}, {1, 0.9}, {0, 0.9}}}}, s, 10,
		12*time.Second, through(s))
	require.Empty(t, got.began)
	require.Zero(t, got.candidates)
	got = watch(t, motion.Config{Masks: []motion.Polygon{rightHalf}}, s, 10, 12*time.Second, through(s))
	require.Len(t, got.began, 1)
	require.InDelta(t, 6.95, offset(got.ended[0].Last), 0.45)
}

// TestWalksFromTheStart: of who walks in the first picture already, the event begins with
// that; in a region it begins when they come in.
func TestWalksFromTheStart(t *testing.T) {
	s := newScene(320, 180, 1, 2)
	got := watch(t, motion.Config{Regions: []motion.Region{{ID: "right", Area: rightHalf}}}, s, 10, 6*time.Second,
		func(at float64) { walker(s, 0.1+0.15*at) })
	require.Len(t, got.began, 2)
	require.Zero(t, offset(got.began[0].Start))
	require.Equal(t, "right", got.began[1].Region)
	require.InDelta(t, 2.5, offset(got.began[1].Start), 0.4)
}

// TestGapEnds: a lost stream ends the span at once, at its last picture with motion, and the next
// picture is learned anew.
func TestGapEnds(t *testing.T) {
	s := newScene(320, 180, 1, 2)
	d, err := motion.New(motion.Config{})
	require.NoError(t, err)
	require.Empty(t, d.Gap(), "nothing is open")
	step := func(i int) motion.Result {
		s.empty()
		through(s)(float64(i) / 10)
		return d.Step(s.take(epoch.Add(time.Duration(i) * 100 * time.Millisecond)))
	}
	for i := range 60 {
		step(i)
	}
	ends := d.Gap()
	require.Len(t, ends, 1)
	require.Equal(t, motion.Ended, ends[0].Kind)
	require.InDelta(t, 5.9, offset(ends[0].Last), 0.11)
	require.Empty(t, d.Gap())
	r := step(62)
	require.True(t, r.Activity.Learning)
	require.False(t, r.Moving)
}

// TestSizeChangeActsAsGap: the camera was set to another resolution during a span.
func TestSizeChangeActsAsGap(t *testing.T) {
	s, other := newScene(320, 180, 1, 2), newScene(264, 216, 1, 2)
	d, err := motion.New(motion.Config{})
	require.NoError(t, err)
	for i := range 60 {
		s.empty()
		through(s)(float64(i) / 10)
		d.Step(s.take(epoch.Add(time.Duration(i) * 100 * time.Millisecond)))
	}
	r := d.Step(other.take(epoch.Add(6 * time.Second)))
	require.Len(t, r.Changes, 1)
	require.Equal(t, motion.Ended, r.Changes[0].Kind)
	require.True(t, r.Activity.Learning)
}

// TestMaxDurationContinues: who walks about for long gives several spans that follow each other.
func TestMaxDurationContinues(t *testing.T) {
	s := newScene(160, 90, 1, 2)
	got := watch(t, motion.Config{MaxDuration: 10 * time.Second}, s, 10, 40*time.Second, func(at float64) {
		if at >= 4 && at < 30 {
			walker(s, 0.45+0.4*math.Sin((at-4)*0.9))
		}
	})
	require.Len(t, got.began, 3)
	require.Len(t, got.ended, 3)
	for i := range 3 {
		require.Equal(t, i > 0, got.began[i].Continued, "begin %d", i)
		require.Equal(t, i < 2, got.ended[i].Continued, "end %d", i)
		require.NotEmpty(t, got.ended[i].Boxes)
		if i > 0 {
			require.True(t, got.began[i].Start.After(got.ended[i-1].Last))
			require.Less(t, got.began[i].Start.Sub(got.ended[i-1].Last), time.Second)
		}
		require.LessOrEqual(t, got.ended[i].Last.Sub(got.ended[i].Start), 10*time.Second)
	}
}

// TestMinDurationDismisses: a span that is shorter than asked for is none.
func TestMinDurationDismisses(t *testing.T) {
	s := newScene(160, 90, 1, 2)
	short := func(at float64) {
		if at >= 4 && at < 5.5 {
			walker(s, 0.3+0.2*(at-4))
		}
	}
	got := watch(t, motion.Config{MinDuration: 3 * time.Second}, s, 10, 10*time.Second, short)
	require.Empty(t, got.began)
	require.Empty(t, got.ended)
	require.Positive(t, got.candidates)
	got = watch(t, motion.Config{MinDuration: 3 * time.Second}, s, 10, 14*time.Second, through(s))
	require.Len(t, got.began, 1)
	require.InDelta(t, 4.05, offset(got.began[0].Start), 0.16)
	require.InDelta(t, 7.0, offset(got.firstBegan), 0.3)
}

// TestQuietPeriodJoins: two bursts closer than the period are one span.
func TestQuietPeriodJoins(t *testing.T) {
	for _, c := range []struct {
		quiet time.Duration
		spans int
	}{{0, 2}, {4 * time.Second, 1}} {
		s := newScene(160, 90, 1, 2)
		got := watch(t, motion.Config{QuietPeriod: c.quiet}, s, 10, 16*time.Second, func(at float64) {
			if at >= 4 && at < 6 || at >= 8.5 && at < 10.5 {
				walker(s, 0.2+0.2*(math.Mod(at-4, 4.5)))
			}
		})
		require.Len(t, got.began, c.spans, "%v", c.quiet)
		require.Len(t, got.ended, c.spans)
	}
}

// TestCandidateFromTheFirstPicture: the agent keeps stills from the picture on in which a span will
// turn out to have begun.
func TestCandidateFromTheFirstPicture(t *testing.T) {
	s := newScene(160, 90, 1, 2)
	d, err := motion.New(motion.Config{})
	require.NoError(t, err)
	firstCandidate := -1.0
	for i := range 100 {
		at := float64(i) / 10
		s.empty()
		through(s)(at)
		r := d.Step(s.take(epoch.Add(time.Duration(i) * 100 * time.Millisecond)))
		if r.Candidate && firstCandidate < 0 {
			firstCandidate = at
		}
		for _, c := range r.Changes {
			require.InDelta(t, firstCandidate, offset(c.Start), 0.001)
			require.True(t, r.Moving)
			require.NotEmpty(t, r.Activity.Boxes)
			require.Positive(t, r.Activity.Share)
			return
		}
	}
	t.Fatal("the person was not found")
}

// TestClockSteps: the clock is set back and forth during spans. None ends before it starts, and
// detection goes on.
func TestClockSteps(t *testing.T) {
	for _, jump := range []time.Duration{-time.Hour, -1500 * time.Millisecond, -300 * time.Millisecond, time.Hour,
		40 * time.Hour} {
		s := newScene(160, 90, 1, 2)
		d, err := motion.New(motion.Config{})
		require.NoError(t, err)
		began, ended := 0, 0
		take := func(changes []motion.Change) {
			for _, c := range changes {
				require.False(t, c.Last.Before(c.Start), "jump %v: %v", jump, c)
				if c.Kind == motion.Began {
					began++
				} else {
					ended++
				}
			}
		}
		for i := range 260 {
			at := float64(i) / 10
			wall := epoch.Add(time.Duration(i) * 100 * time.Millisecond)
			if i >= 60 {
				wall = wall.Add(jump)
			}
			s.empty()
			through(s)(at)
			if at >= 16 {
				walker(s, -0.08+0.2*(at-16))
			}
			take(d.Step(s.take(wall)).Changes)
		}
		take(d.Gap())
		require.Equal(t, began, ended)
		require.GreaterOrEqual(t, began, 2, "jump %v", jump)
		require.LessOrEqual(t, began, 3, "jump %v", jump)
	}
}

// TestBadPictures: a picture that is not what it says is left out.
func TestBadPictures(t *testing.T) {
	d, err := motion.New(motion.Config{})
	require.NoError(t, err)
	for _, p := range []motion.Picture{
		{},
		{Luma: make([]byte, 10), Width: 320, Height: 180, Stride: 320},
		{Luma: make([]byte, 100), Width: 10, Height: 10, Stride: 9},
		{Luma: make([]byte, 100), Width: -10, Height: -10, Stride: 10},
		{Luma: make([]byte, 100), Width: math.MaxInt, Height: 1, Stride: math.MaxInt},
	} {
		p.Time = epoch
		require.NotPanics(t, func() { require.Empty(t, d.Step(p).Changes) })
	}
}

// TestNoAllocationInQuiet: a quiet picture costs no memory, and neither does one in which a person
// walks inside an open span.
func TestNoAllocationInQuiet(t *testing.T) {
	s := newScene(320, 180, 1, 2)
	d, err := motion.New(motion.Config{Regions: []motion.Region{{ID: "left", Area: leftHalf}}})
	require.NoError(t, err)
	i := 0
	step := func(walks bool) {
		s.empty()
		if walks {
			walker(s, 0.45+0.4*math.Sin(float64(i)/8))
		}
		d.Step(s.take(epoch.Add(time.Duration(i) * 100 * time.Millisecond)))
		i++
	}
	for range 50 {
		step(false)
	}
	require.Zero(t, testing.AllocsPerRun(100, func() { step(false) }))
	for range 50 {
		step(true)
	}
	require.Less(t, testing.AllocsPerRun(100, func() { step(true) }), 1.0)
}

// TestObjectsOfASpan: each thing of a span comes back once, with where it was largest, by the
// number of its track.
func TestObjectsOfASpan(t *testing.T) {
	s := newScene(320, 180, 1, 2)
	c := motion.Config{Regions: []motion.Region{{ID: "right", Area: rightHalf}}}
	got := watch(t, c, s, 10, 14*time.Second, func(at float64) {
		if at >= 4 {
			walker(s, -0.08+0.2*(at-4))
		}
		if at >= 5.5 && at < 9 {
			s.thing(0.9-0.15*(at-5.5), 0.12, 0.05, 0.16, 30, 0) // a smaller one the other way, high up
		}
	})
	require.NotEmpty(t, got.ended)
	for _, ch := range got.ended {
		ids := map[string]bool{}
		for _, o := range ch.Objects {
			require.False(t, ids[o.ID], "once each")
			ids[o.ID] = true
			require.False(t, o.Time.Before(ch.Start), "within the span")
			require.False(t, o.Time.After(ch.Last))
			require.Greater(t, o.Box.Right, o.Box.Left)
		}
		require.GreaterOrEqual(t, len(ch.Objects), 2, "both things, in %q", ch.Region)
		require.True(t, ids[ch.Object] || ch.Region != "", "the one that began the span is among them")
		first, second := ch.Objects[0].Box, ch.Objects[1].Box
		require.Greater(t, (first.Right-first.Left)*(first.Bottom-first.Top),
			(second.Right-second.Left)*(second.Bottom-second.Top), "the largest first")
	}
	whole := map[string]bool{}
	for _, ch := range got.ended {
		if ch.Region == "" {
			for _, o := range ch.Objects {
				whole[o.ID] = true
			}
		}
	}
	for _, ch := range append(got.began, got.ended...) {
		for _, o := range ch.Objects {
			require.True(t, whole[o.ID], "the same thing has the same number in a region, and when a span begins")
		}
	}
}
