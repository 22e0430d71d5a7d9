package motion

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/motion/plane"
)

// pass lets a track be seen at ten pictures a second, size cells large, where the way of k tells, and returns its time after that.
func pass(k *track, pictures, size int, way func(seconds float64) (x, y float64)) time.Duration {
	at := time.Duration(0)
	for i := range pictures {
		at = time.Duration(i) * 100 * time.Millisecond
		x, y := way(at.Seconds())
		k.travel(size, size, int(x*float64(size)), int(y*float64(size)), at, 100*time.Millisecond)
	}
	return at
}

// TestTravelled: who walks goes somewhere within a second and a half, in whatever direction; what sways, flickers or turns in its place does not.
func TestTravelled(t *testing.T) {
	for name, c := range map[string]struct {
		size int
		way  func(s float64) (x, y float64)
		want bool
	}{
		"walks to the right":      {200, func(s float64) (x, y float64) { return 20 + 20*s, 40 }, true},
		"walks towards":           {200, func(s float64) (x, y float64) { return 60, 20 + 8*s }, true},
		"is far away":             {14, func(s float64) (x, y float64) { return 60 + 4*s, 30 }, true},
		"sways":                   {200, func(s float64) (x, y float64) { return 60 + 4*math.Sin(9*s), 30 }, false},
		"flickers":                {30, func(s float64) (x, y float64) { return 60, 30 }, false},
		"turns round":             {200, func(s float64) (x, y float64) { return 60 + 6*math.Cos(8*s), 30 + 6*math.Sin(8*s) }, false},
		"leans a bit, and is big": {2000, func(s float64) (x, y float64) { return 60 + 3*s, 30 }, false},
	} {
		var k track
		pass(&k, 16, c.size, c.way)
		require.Equal(t, c.want, k.travelled(), name)
	}
}

// TestLeaves: while a scene is young a tree that leans over is no walker.
func TestLeaves(t *testing.T) {
	var walker, tree track
	pass(&walker, 12, 300, func(s float64) (x, y float64) { return 20 + 20*s, 40 })
	pass(&tree, 12, 300, func(s float64) (x, y float64) { return 60 + 6*s, 30 })
	require.True(t, walker.travelled() && walker.leaves())
	require.True(t, tree.travelled())
	require.False(t, tree.leaves())
}

// TestWanders: what is large and moves on and on is a thing, wherever it goes, unless it is in the same places all the time.
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
		k := track{cells: c.size, strong: c.moves, worn: c.worn, ranFrom: time.Second, strongAt: time.Second + c.since}
		require.Equal(t, c.want, k.wanders(small), name)
	}
}

// TestSeldomSeen: at a few pictures a second, twigs here and there are easily taken for one thing that goes on. What is faint does not tell then.
func TestSeldomSeen(t *testing.T) {
	for name, c := range map[string]struct {
		each          time.Duration
		strong, faint time.Duration
		want          bool
	}{
		"at ten a second":               {100 * time.Millisecond, 500 * time.Millisecond, 800 * time.Millisecond, true},
		"twigs, at five a second":       {200 * time.Millisecond, 400 * time.Millisecond, 800 * time.Millisecond, false},
		"who walks, at five a second":   {200 * time.Millisecond, 800 * time.Millisecond, 800 * time.Millisecond, true},
		"who is too short, at ten":      {100 * time.Millisecond, 300 * time.Millisecond, 600 * time.Millisecond, false},
		"who is faint, at five, and on": {200 * time.Millisecond, 800 * time.Millisecond, 1600 * time.Millisecond, true},
	} {
		var k track
		at := pass(&k, 12, 150, func(s float64) (x, y float64) { return 20 + 20*s, 40 })
		k.strong, k.active, k.faint, k.pictures = c.strong, c.strong, c.faint, int(c.strong/c.each)
		k.trail.add(sight{at: at}, c.each)
		k.confirm(at, c.each, &tracker{small: 72, width: 160, height: 90})
		require.Equal(t, c.want, k.confirmed, name)
	}
}

// TestHurries: an insect close to the lens is faster than things of its size.
func TestHurries(t *testing.T) {
	var runner, insect track
	at := pass(&runner, 10, 100, func(s float64) (x, y float64) { return 20 + 35*s, 40 })
	require.False(t, runner.hurries(at))
	at = pass(&insect, 10, 100, func(s float64) (x, y float64) { return 20 + 90*s, 40 + 20*math.Sin(9*s) })
	require.True(t, insect.hurries(at))
}

// TestLeaps: pictures of one clear form along a line are a thing; others, to and fro, or of something that may be an insect, are not.
func TestLeaps(t *testing.T) {
	tr := &tracker{small: 72, width: 160, height: 90}
	shape := func(left, top, wide, high int) form {
		return form{box: rect{left, top, left + wide, top + high}, cells: wide * high * 4 / 5, clear: true, bold: wide*high > 400,
			border: left <= 1 || left+wide >= tr.width-1}
	}
	unclear := shape(70, 50, 30, 14)
	unclear.clear = false
	for name, c := range map[string]struct {
		forms []form
		want  bool
	}{
		"a car, twice":              {[]form{shape(20, 50, 36, 16), shape(80, 50, 36, 16)}, true},
		"a small car, twice":        {[]form{shape(20, 50, 22, 10), shape(60, 50, 22, 10)}, false},
		"a small car, three times":  {[]form{shape(20, 50, 22, 10), shape(60, 51, 22, 10), shape(101, 50, 22, 10)}, true},
		"a small car, half outside": {[]form{shape(0, 50, 12, 10), shape(38, 50, 22, 10), shape(86, 50, 22, 10)}, true},
		"to and fro":                {[]form{shape(20, 50, 22, 10), shape(60, 50, 22, 10), shape(20, 50, 22, 10)}, false},
		"in a curl":                 {[]form{shape(20, 50, 22, 10), shape(60, 50, 22, 10), shape(75, 10, 22, 10)}, false},
		"another form":              {[]form{shape(20, 50, 36, 16), shape(80, 20, 12, 50)}, false},
		"light":                     {[]form{shape(20, 50, 30, 14), unclear}, false},
		"in its place":              {[]form{shape(20, 50, 36, 16), shape(24, 50, 36, 16), shape(20, 50, 36, 16)}, false},
	} {
		var k track
		for i, f := range c.forms {
			k.linked++
			k.leap(f, tr, time.Duration(i)*100*time.Millisecond, 100*time.Millisecond)
		}
		require.Equal(t, c.want, k.leapt(), name)
	}
}

// TestScattered: specks all over the picture are scattered; people and a large thing are not.
func TestScattered(t *testing.T) {
	const w, h = 160, 90
	var d Detector
	d.resize(w, h)
	draw := func(in func(x, y int) bool) []plane.Block {
		for i := range d.solid {
			d.solid[i] = 0
			if in(i%w, i/w) {
				d.solid[i] = 1
			}
		}
		d.squares()
		return d.square
	}
	require.True(t, scattered(draw(func(x, y int) bool { return x%8 < 2 && y%6 < 2 })), "specks")
	require.False(t, scattered(draw(func(x, y int) bool { return x > 40 && x < 60 && y > 20 && y < 80 })), "a person")
	require.False(t, scattered(draw(func(x, y int) bool { return x > 10 && x < 150 && y > 5 })), "a truck")
	require.False(t, scattered(draw(func(x, y int) bool { return false })), "nothing")
}

// TestRestless: a place where something moves that goes nowhere becomes restless within seconds, and calm again within a minute; who passes by teaches nothing.
func TestRestless(t *testing.T) {
	d, err := New(Config{})
	require.NoError(t, err)
	d.resize(320, 180)
	d.labels.label(d.grid, d.solid, d.model.parked)
	const cell = 40*160 + 50
	run := func(seconds float64) {
		for range int(10 * seconds) {
			d.at += 100 * time.Millisecond
			d.habit.learn(d, 100*time.Millisecond)
		}
	}
	d.flags[cell] = cellMoved
	run(2)
	require.Less(t, d.habit.memory[cell], restlessAt)
	run(2)
	require.GreaterOrEqual(t, d.habit.memory[cell], restlessAt)
	d.flags[cell] = 0
	run(60)
	require.Zero(t, d.habit.memory[cell])

	d.flags[cell], d.solid[cell] = cellMoved|cellFore, 1
	d.labels.label(d.grid, d.solid, d.model.parked)
	d.objects = []object{{track: 0}}
	d.labels.number[d.labels.root(d.labels.tile[40/2*d.labels.width+50/2])] = 0
	d.tracks.tracks = append(d.tracks.tracks[:0], track{live: true, left: true, anchorAt: d.at})
	run(5)
	require.Zero(t, d.habit.memory[cell], "it is on its way")
	run(dwellsAfter.Seconds())
	require.NotZero(t, d.habit.memory[cell], "it dwells")
}
