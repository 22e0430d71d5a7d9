package track

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/motion/area"
)

// TestPresence: what differs from the background in one picture after the other and gets somewhere
// goes, however small and slow it is; what stands, comes back or is elsewhere each time does not.
func TestPresence(t *testing.T) {
	const walker = 30 // cells: a person of 28x110 pixels at a gate, of 960x1088
	for name, c := range map[string]struct {
		cells, edges int
		worn         int     // 255 for area.WornFull
		since        float64 // s
		way          func(s float64) (x, y float64)
		change       func(a *area.Area, i int)
		young, early bool
		weather      bool
		want         bool
	}{
		"walks slowly": {cells: walker, edges: 60,
			way: func(s float64) (x, y float64) { return 60 + 2*s, 42 }, want: true},
		"is a few cells": {cells: 8, edges: 30,
			way: func(s float64) (x, y float64) { return 60, 20 + s }, want: true},
		"is not seen now and then": {cells: walker, edges: 60,
			way: func(s float64) (x, y float64) { return 60 + 2*s, 42 },
			change: func(a *area.Area, i int) {
				if i%4 == 0 {
					*a = area.Area{}
				}
			}, want: true},
		"stands": {cells: walker, edges: 60, way: func(s float64) (x, y float64) { return 60, 42 }},
		"comes back": {cells: walker, edges: 60,
			way: func(s float64) (x, y float64) { return 60 + 8*math.Sin(4*s), 42 }},
		"is elsewhere": {cells: walker, edges: 60, way: func(s float64) (x, y float64) { return 10 + 60*s, 42 }},
		"has no edges": {cells: walker, edges: 20, way: func(s float64) (x, y float64) { return 60 + 2*s, 42 }},
		"is light": {cells: walker, edges: 60, way: func(s float64) (x, y float64) { return 60 + 2*s, 42 },
			change: func(a *area.Area, i int) { a.Light = true }},
		"moves where something always does": {cells: walker, edges: 60, worn: 60,
			way: func(s float64) (x, y float64) { return 60 + 2*s, 42 }},
		"moves where something did": {cells: walker, edges: 60, worn: 14,
			way: func(s float64) (x, y float64) { return 60 + 2*s, 42 }, want: true},
		"moves where something did, early": {cells: walker, edges: 60, worn: 14, early: true,
			way: func(s float64) (x, y float64) { return 60 + 2*s, 42 }},
		"walks slowly, early": {cells: walker, edges: 60, worn: 7, early: true,
			way: func(s float64) (x, y float64) { return 60 + 2*s, 42 }, want: true},
		"goes after it stood": {cells: walker, edges: 60, since: 1, want: true,
			way: func(s float64) (x, y float64) { return 60 + 3*max(0, s-1), 42 }},
		"sways back once as it goes": {cells: walker, edges: 60, want: true,
			way: func(s float64) (x, y float64) {
				if s >= 0.8 && s < 1.2 {
					return 60, 42
				}
				return 60 + 2*s, 42
			}},
		"is new": {cells: walker, edges: 60,
			way: func(s float64) (x, y float64) { return 60 + 2*s, 42 }, young: true, want: true},
		"is as large as somebody who stirs": {cells: 80, edges: 100,
			way: func(s float64) (x, y float64) { return 40 + 6*s, 42 }},
		"runs straight down, as a drop on the lens": {cells: walker, edges: 60,
			way: func(s float64) (x, y float64) { return 60 + 0.2*s, 20 + 2*s }},
		"comes straight down": {cells: walker, edges: 60,
			way:    func(s float64) (x, y float64) { return 60 + 0.2*s, 20 + 2*s },
			change: func(a *area.Area, i int) { a.Moved = 18 }, want: true},
		"comes down aslant": {cells: walker, edges: 60,
			way: func(s float64) (x, y float64) { return 60 + s, 20 + 2*s }, want: true},
		"moves nothing, as the light of a screen": {cells: walker, edges: 60,
			way:    func(s float64) (x, y float64) { return 60 + 2*s, 42 },
			change: func(a *area.Area, i int) { a.Moved, a.Worn = 1, 0 }},
		"hardly moves once it goes": {cells: walker, edges: 60,
			way: func(s float64) (x, y float64) { return 60 + 2*s, 42 },
			change: func(a *area.Area, i int) {
				if i > 20 {
					a.Moved, a.Worn = 0, 0
				}
			}, want: true},
		"falls with others": {cells: walker, edges: 60, way: func(s float64) (x, y float64) { return 60 + 2*s, 42 },
			weather: true},
	} {
		t.Run(name, func(t *testing.T) {
			tr := Tracker{Young: c.young, Early: c.early}
			tr.Resize(112, 127)
			if c.weather {
				tr.fall.all = flurry + 1
			}
			goes := 0
			for i := range 30 {
				at := time.Duration(i) * 100 * time.Millisecond
				x, y := c.way(at.Seconds())
				a := []area.Area{{Fore: c.cells, Cells: c.cells, Moved: 4, Worn: int64(4 * c.worn),
					SumX: int64(x * float64(c.cells)), SumY: int64(y * float64(c.cells)),
					Outline: area.Outline{Sharp: c.edges}}}
				if c.change != nil {
					c.change(&a[0], i)
				}
				tr.attend(a, at, 100*time.Millisecond, epoch.Add(at))
				if a[0].Goes {
					goes++
					require.InDelta(t, c.since, a[0].Since.Sub(epoch).Seconds(), 0.6)
				}
			}
			require.Equal(t, c.want, goes > 5, "pictures in which it goes: %d of 30", goes)
			require.True(t, c.want || goes == 0, "pictures in which it goes: %d of 30", goes)
		})
	}
}

// TestPresenceEnds: what is of another size, or was not seen for a while, is another thing.
func TestPresenceEnds(t *testing.T) {
	var tr Tracker
	tr.Resize(112, 127)
	seen := func(at time.Duration, x float64) area.Area {
		a := []area.Area{{Fore: 30, Cells: 30, Moved: 4, SumX: int64(30 * x), SumY: 30 * 42,
			Outline: area.Outline{Sharp: 60}}}
		tr.attend(a, at, 100*time.Millisecond, epoch.Add(at))
		return a[0]
	}
	at := time.Duration(0)
	for ; at < 2*time.Second; at += 100 * time.Millisecond {
		seen(at, 60+2*at.Seconds())
	}
	require.True(t, seen(at, 64).Goes)
	tr.present[0].taken = false
	require.NotNil(t, tr.presenceAt(64, 42, 30))
	require.Nil(t, tr.presenceAt(64, 42, 30*presenceAlike+1))
	require.Nil(t, tr.presenceAt(64, 42, 30/presenceAlike-1))
	require.False(t, seen(at+presenceLost+100*time.Millisecond, 64.5).Goes)
	require.Len(t, tr.present, 1)
}

// TestPresenceOfParts: what is seen anew close to what goes began with it; further away, or beside
// what rests, it began by itself.
func TestPresenceOfParts(t *testing.T) {
	wall := epoch.Add(2 * time.Second)
	tr := Tracker{present: []presence{{x: 60, y: 42, cells: 25, began: epoch}}}
	for name, c := range map[string]struct {
		x     float64
		rests time.Duration
		want  time.Time
	}{
		"close to it":           {68, 0, epoch},
		"away from it":          {71, 0, wall},
		"beside who stands":     {68, time.Second, wall},
		"beside who comes back": {68, 100 * time.Millisecond, wall},
	} {
		tr.present[0].rests = c.rests
		began, _ := tr.beganAt(c.x, 42, 25, wall)
		require.Equal(t, c.want, began, name)
	}
}

// epoch is the time of picture 0.
var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
