package track

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/motion/area"
)

// pass lets a track be seen at ten pictures a second, size cells large, where the way of k tells,
// and returns its time after that.
func pass(k *Track, pictures, size int, way func(seconds float64) (x, y float64)) time.Duration {
	at := time.Duration(0)
	for i := range pictures {
		at = time.Duration(i) * 100 * time.Millisecond
		x, y := way(at.Seconds())
		k.travel(size, size, int64(x*float64(size)), int64(y*float64(size)), at, 100*time.Millisecond)
	}
	return at
}

// TestTravelled: who walks goes somewhere within a second and a half, in whatever direction; what
// sways, flickers or turns in its place does not.
func TestTravelled(t *testing.T) {
	for name, c := range map[string]struct {
		size int
		way  func(s float64) (x, y float64)
		want bool
	}{
		"walks to the right": {200, func(s float64) (x, y float64) { return 20 + 20*s, 40 }, true},
		"walks towards":      {200, func(s float64) (x, y float64) { return 60, 20 + 8*s }, true},
		"is far away":        {14, func(s float64) (x, y float64) { return 60 + 4*s, 30 }, true},
		"sways":              {200, func(s float64) (x, y float64) { return 60 + 4*math.Sin(9*s), 30 }, false},
		"flickers":           {30, func(s float64) (x, y float64) { return 60, 30 }, false},
		"turns round": {200, func(s float64) (x, y float64) {
			return 60 + 6*math.Cos(8*s), 30 + 6*math.Sin(8*s)
		}, false},
		"leans a bit, and is big": {2000, func(s float64) (x, y float64) { return 60 + 3*s, 30 }, false},
	} {
		var k Track
		pass(&k, 16, c.size, c.way)
		require.Equal(t, c.want, k.Travelled(), name)
	}
}

// TestLeaves: while a scene is young a tree that leans over is no walker.
func TestLeaves(t *testing.T) {
	var walker, tree Track
	pass(&walker, 12, 300, func(s float64) (x, y float64) { return 20 + 20*s, 40 })
	pass(&tree, 12, 300, func(s float64) (x, y float64) { return 60 + 6*s, 30 })
	require.True(t, walker.Travelled() && walker.leaves(72))
	require.True(t, tree.Travelled())
	require.False(t, tree.leaves(72))
}

// TestGoesStraightOn: what is large and goes straight on need not go far while a scene is young.
func TestGoesStraightOn(t *testing.T) {
	for name, c := range map[string]struct {
		size  int
		moves time.Duration
		way   func(s float64) (x, y float64)
		want  bool
	}{
		"comes in":   {900, 700 * time.Millisecond, func(s float64) (x, y float64) { return 30 + 12*s, 60 }, true},
		"only just":  {900, 300 * time.Millisecond, func(s float64) (x, y float64) { return 30 + 12*s, 60 }, false},
		"is small":   {300, 700 * time.Millisecond, func(s float64) (x, y float64) { return 30 + 8*s, 60 }, false},
		"leans over": {900, 700 * time.Millisecond, func(s float64) (x, y float64) { return 30 + 4*s, 60 }, false},
		"goes to and fro": {900, 700 * time.Millisecond, func(s float64) (x, y float64) {
			return 30 + 10*s, 60 + 6*math.Sin(9*s)
		}, false},
	} {
		k := Track{strong: c.moves}
		pass(&k, 11, c.size, c.way)
		require.Equal(t, c.want, k.leaves(72), name)
	}
}

// TestWanders: what is large and moves on and on is a thing, wherever it goes, unless it is in the
// same places all the time.
func TestWanders(t *testing.T) {
	const small = 72
	for name, c := range map[string]struct {
		size  float64
		moves time.Duration // beyond doubt
		since time.Duration
		worn  float64
		want  bool
	}{
		"a hand at work":    {600, 1500 * time.Millisecond, 1800 * time.Millisecond, 0.3, true},
		"a flag":            {600, 1500 * time.Millisecond, 1500 * time.Millisecond, 1.1, false},
		"only just":         {600, 800 * time.Millisecond, 800 * time.Millisecond, 0.1, false},
		"a small flutterer": {100, 1500 * time.Millisecond, 1500 * time.Millisecond, 0.3, false},
		"a tree in gusts":   {600, 1500 * time.Millisecond, 3 * time.Second, 0.3, false},
	} {
		k := Track{cells: c.size, strong: c.moves, worn: c.worn, ranFrom: time.Second, strongAt: time.Second + c.since}
		require.Equal(t, c.want, k.wanders(&Tracker{small: small}), name)
	}
	k := Track{cells: 600, strong: 1500 * time.Millisecond, worn: 0.64, strongAt: 1800 * time.Millisecond}
	require.True(t, k.wanders(&Tracker{small: small}), "a child at play")
	require.False(t, k.wanders(&Tracker{small: small, Early: true}), "a tree that moves from the start")
}

// TestSways: early, the places of what goes to and fro may have been moving for less than those of
// what goes straight on. The figures are of real clips and of a drawn tree.
func TestSways(t *testing.T) {
	for name, c := range map[string]struct {
		away, way, strong, worn float64
		want                    bool
	}{
		"goes straight on":        {0.93, 1, 0.7, 0.33, false},
		"is at work in one place": {0.27, 1, 1.8, 0.24, false},
		"a tree in gusts":         {0.18, 1, 3.1, 1.14, true},
		"twigs":                   {0.80, 1, 1.2, 0.57, true},
	} {
		k := Track{nowX: c.away, way: c.way, strong: time.Duration(c.strong * float64(time.Second)), worn: c.worn}
		require.Equal(t, c.want, k.sways(), name)
	}
}

// TestSeldomSeen: at a few pictures a second, twigs here and there are easily taken for one thing
// that goes on. What is faint does not tell then.
func TestSeldomSeen(t *testing.T) {
	for name, c := range map[string]struct {
		each          time.Duration
		strong, faint time.Duration
		want          bool
	}{
		"at ten a second": {100 * time.Millisecond, 500 * time.Millisecond, 800 * time.Millisecond, true},
		"twigs, at five a second": {200 * time.Millisecond, 400 * time.Millisecond, 800 * time.Millisecond,
			false},
		"who walks, at five a second": {200 * time.Millisecond, 800 * time.Millisecond, 800 * time.Millisecond, true},
		"who is too short, at ten": {100 * time.Millisecond, 300 * time.Millisecond, 600 * time.Millisecond,
			false},
		"who is faint, at five, and on": {200 * time.Millisecond, 800 * time.Millisecond, 1600 * time.Millisecond,
			true},
	} {
		var k Track
		at := pass(&k, 12, 150, func(s float64) (x, y float64) { return 20 + 20*s, 40 })
		k.strong, k.active, k.faint, k.pictures = c.strong, c.strong, c.faint, int(c.strong/c.each)
		k.trail.add(sight{at: at}, c.each)
		k.confirm(at, c.each, &Tracker{small: 72, width: 160, height: 90})
		require.Equal(t, c.want, k.Confirmed, name)
	}
}

// TestStartAfterTheTree: who comes out of a tree that moves began when they left it, also when the
// tree began to move with a change of the whole picture.
func TestStartAfterTheTree(t *testing.T) {
	tr := &Tracker{small: 72, width: 160, height: 90}
	tr.Upheaves(900*time.Millisecond, time.Unix(1, 0), true)
	wall := time.Unix(1, 0)
	for name, c := range map[string]struct {
		worn float32 // of the places of the first second
		want time.Duration
	}{"a tree": {1, 2 * time.Second}, "the same thing": {0.2, 775 * time.Millisecond}} {
		k := Track{contrast: 4000, cells: 200, fromX: 40, nowX: 60,
			box: area.Rect{Left: 55, Top: 40, Right: 65, Bottom: 60}}
		for i := range 15 {
			at := time.Second + time.Duration(i)*100*time.Millisecond
			s := sight{at: at, wall: wall.Add(at), contrast: 4000, worn: 0.1, bottom: 20, fore: 200}
			if at < 2*time.Second {
				s.worn = c.worn
			}
			k.trail.add(s, 100*time.Millisecond)
		}
		k.begins(k.trail.begin(2400*time.Millisecond, startBack, k.contrast), 2400*time.Millisecond, tr)
		require.Equal(t, wall.Add(c.want), k.Start, name)
	}
}

// TestPasses: who walks is on its way; who stays in one place for long dwells there.
func TestPasses(t *testing.T) {
	var k Track
	at := pass(&k, 12, 300, func(s float64) (x, y float64) { return 20 + 20*s, 40 })
	require.False(t, k.Passes(at, 12*time.Second), "it is not confirmed")
	k.Live = true
	require.True(t, k.Passes(at, 12*time.Second))
	require.False(t, k.Passes(at+12*time.Second, 12*time.Second))
	k = Track{Live: true}
	at = pass(&k, 12, 300, func(s float64) (x, y float64) { return 60, 30 })
	require.False(t, k.Passes(at, 12*time.Second), "it has been there all the time")
}

// TestHurries: an insect close to the lens is faster than things of its size.
func TestHurries(t *testing.T) {
	var runner, insect Track
	at := pass(&runner, 10, 100, func(s float64) (x, y float64) { return 20 + 35*s, 40 })
	require.False(t, runner.hurries(at))
	at = pass(&insect, 10, 100, func(s float64) (x, y float64) { return 20 + 90*s, 40 + 20*math.Sin(9*s) })
	require.True(t, insect.hurries(at))
}

// TestLeaps: pictures of one clear form along a line are a thing; others, to and fro, or of
// something that may be an insect, are not.
func TestLeaps(t *testing.T) {
	tr := &Tracker{small: 72, width: 160, height: 90}
	shape := func(left, top, wide, high int) form {
		return form{box: area.Rect{Left: left, Top: top, Right: left + wide, Bottom: top + high},
			cells: wide * high * 4 / 5, clear: true, bold: wide*high > 400,
			border: left <= 1 || left+wide >= tr.width-1}
	}
	unclear := shape(70, 50, 30, 14)
	unclear.clear = false
	for name, c := range map[string]struct {
		forms []form
		want  bool
	}{
		"a car, twice":       {[]form{shape(20, 50, 36, 16), shape(80, 50, 36, 16)}, true},
		"a small car, twice": {[]form{shape(20, 50, 22, 10), shape(60, 50, 22, 10)}, false},
		"a small car, three times": {[]form{shape(20, 50, 22, 10), shape(60, 51, 22, 10), shape(101, 50, 22, 10)},
			true},
		"a small car, half outside": {[]form{shape(0, 50, 12, 10), shape(38, 50, 22, 10), shape(86, 50, 22, 10)}, true},
		"to and fro": {[]form{shape(20, 50, 22, 10), shape(60, 50, 22, 10), shape(20, 50, 22, 10)},
			false},
		"in a curl":    {[]form{shape(20, 50, 22, 10), shape(60, 50, 22, 10), shape(75, 10, 22, 10)}, false},
		"another form": {[]form{shape(20, 50, 36, 16), shape(80, 20, 12, 50)}, false},
		"light":        {[]form{shape(20, 50, 30, 14), unclear}, false},
		"in its place": {[]form{shape(20, 50, 36, 16), shape(24, 50, 36, 16), shape(20, 50, 36, 16)}, false},
	} {
		var k Track
		for i, f := range c.forms {
			k.linked++
			k.leap(f, tr, time.Duration(i)*100*time.Millisecond, 100*time.Millisecond)
		}
		require.Equal(t, c.want, k.leapt(), name)
	}
}

// TestTrackOfLightIsNotConfirmed: a track must be a thing on the mean of its pictures; what is too
// small or too faint to tell may be one.
func TestTrackOfLightIsNotConfirmed(t *testing.T) {
	clear := area.Area{Fore: 400, Moved: 300, MovedWeight: 300 * 4000, MovedSquare: 300 * 4000 * 4000,
		Limit: 300 * 1500, Strong: true}
	light, solid := clear, clear
	light.Outline = area.Outline{Ends: 100, Sharp: 40, Inner: 1000, Torn: 30, Own: 100, Lost: 10}
	solid.Outline = area.Outline{Ends: 100, Sharp: 80, Inner: 1000, Torn: 200, Own: 100, Lost: 60}
	k := Track{}
	require.True(t, k.solid(), "nothing is known yet")
	for range 5 {
		k.consider(&look{Area: light}, 100*time.Millisecond)
	}
	require.False(t, k.solid())
	for range 6 {
		k.consider(&look{Area: solid}, 100*time.Millisecond)
	}
	require.True(t, k.solid(), "somebody came out of the light")
	faint := light
	faint.MovedWeight, faint.MovedSquare = 300*1600, 300*1600*1600
	k = Track{}
	k.consider(&look{Area: faint}, 100*time.Millisecond)
	require.True(t, k.solid(), "too faint to tell")
}
