package plane

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// sightings returns views of a small picture in which anything may be found.
func sightings(t *testing.T, r *rand.Rand) *Views {
	w, h := 1+r.IntN(60), 1+r.IntN(9)
	n := w * h
	background := fill[uint16](r, n, 65535)
	if r.IntN(2) == 0 { // edges as light leaves them
		for i := range background {
			background[i] = uint16(20000 + r.IntN(12000))
		}
	}
	now := near(r, background, []int{300, 3000, 30000}[r.IntN(3)])
	for i := range now {
		if r.IntN(4) == 0 {
			now[i] = uint16(min(65535, int(background[i])*(1+r.IntN(20))/4))
		}
	}
	most := uint32([]int{400, 600, 11520, 11520, 65535}[r.IntN(5)])
	v := &Views{
		Now: now, Before: near(r, now, 3000), Blink: near(r, now, 3000), Background: background, Noise: fill[uint16](r,
			n, most), Stay: fill[uint16](r, n, 3000),
		Worn: fill[uint8](r, n, 255), Parked: fill[uint8](r, n,
			uint32([]int{0, 3, 255}[r.IntN(3)])), Flags: fill[uint8](r, n, 3), Solid: fill[uint8](r, n,
			1), Width: w, Height: h,
		Light: exposures(r), BlinkLight: exposures(r), Contrast: int32([]int{0, 512, 1536, 65535, 65536,
			-1}[r.IntN(6)]), Young: uint16(1 + r.IntN(3000)),
	}
	for _, s := range []*[]uint16{&v.Now, &v.Before, &v.Blink, &v.Background, &v.Noise, &v.Stay} {
		*s, _ = fenced(t, r, *s)
	}
	for _, s := range []*[]byte{&v.Parked, &v.Worn, &v.Flags, &v.Solid} {
		if r.IntN(4) == 0 {
			for i := range *s {
				(*s)[i] *= byte(i / 16 & 1)
			}
		}
		*s, _ = fenced(t, r, *s)
	}
	return v
}

// summed is what the parts of s add up to.
func summed(s *Sums) map[string]int {
	m := map[string]int{"top": s.Top, "bottom": s.Bottom, "moved top": s.MovedTop, "moved bottom": s.MovedBottom}
	for name, parts := range map[string]*[16]uint16{"cells": &s.Cells, "gone": &s.Gone, "fore": &s.Fore,
		"creep": &s.Creep, "stirs": &s.Stirs, "moved": &s.Moved, "now": &s.Now,
		"inner": &s.Inner, "ends": &s.Ends, "torn": &s.Torn, "sharp": &s.Sharp, "own": &s.Own, "lost": &s.Lost} {
		m[name] = Count(parts)
	}
	for name, parts := range map[string]*[8]uint32{"weight": &s.Weight, "moved weight": &s.MovedWeight,
		"limit": &s.Limit, "now weight": &s.NowWeight, "worn": &s.Worn,
		"fore weight": &s.ForeWeight, "brighter": &s.Brighter, "fore limit": &s.ForeLimit,
		"square low": &s.SquareLow, "square high": &s.SquareHigh, "fore x": &s.ForeX, "fore y": &s.ForeY,
		"moved x": &s.MovedX, "moved y": &s.MovedY} {
		m[name] = int(Total(parts))
	}
	for name, parts := range map[string]*[16]int16{"left": &s.Left, "moved left": &s.MovedLeft} {
		m[name] = int(slices.Min(parts[:]))
	}
	for name, parts := range map[string]*[16]int16{"right": &s.Right, "moved right": &s.MovedRight} {
		if m[name] = int(slices.Max(parts[:])); s.Bottom < 0 || name != "right" && s.MovedBottom < 0 {
			m[name] = -1 // of no cells
		}
	}
	return m
}

// stretch is some cells side by side in one row: where it begins, and of how many.
func stretch(r *rand.Rand, v *Views) (x, y, n int) {
	x, y = r.IntN(v.Width), r.IntN(v.Height)
	return x, y, 1 + r.IntN(v.Width-x)
}

func TestMeasureIsPlain(t *testing.T) { everyWidth(t, testMeasure) }

func testMeasure(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 1))
	for range 2000 {
		v := sightings(t, r)
		var want, got Sums
		want.Reset()
		got.Reset()
		for range 1 + r.IntN(5) {
			x, y, n := stretch(r, v)
			measurePlain(v, x, y, n, &want)
			Measure(v, x, y, n, &got)
		}
		require.Equal(t, summed(&want), summed(&got), "%+v", *v)
	}
}

func TestTraceIsPlain(t *testing.T) { everyWidth(t, testTrace) }

func testTrace(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 2))
	seen := map[string]int{}
	for range 2000 {
		v := sightings(t, r)
		var want, got Sums
		for range 1 + r.IntN(5) {
			x, y, n := stretch(r, v)
			tracePlain(v, x, y, n, &want)
			Trace(v, x, y, n, &got)
		}
		require.Equal(t, summed(&want), summed(&got), "%+v", *v)
		for name, n := range summed(&got) {
			seen[name] += n
		}
	}
	for _, name := range []string{"inner", "ends", "torn", "sharp", "own", "lost"} {
		require.Greater(t, seen[name], 1000, name)
	}
	require.Less(t, seen["lost"], seen["own"])
	require.Less(t, seen["torn"], seen["inner"])
	require.Less(t, seen["sharp"], seen["ends"])
}

func TestSurveyIsPlain(t *testing.T) { everyWidth(t, testSurvey) }

func testSurvey(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 5))
	for range 3000 {
		v := sightings(t, r)
		var want, got Sums
		want.Reset()
		got.Reset()
		for range 1 + r.IntN(5) {
			x, y, n := stretch(r, v)
			for row := y; row < min(y+2, v.Height); row++ {
				measurePlain(v, x, row, n, &want)
				tracePlain(v, x, row, n, &want)
			}
			Survey(v, x, y, n, &got)
		}
		require.Equal(t, summed(&want), summed(&got), "%+v", *v)
	}
}

func TestTilesArePlain(t *testing.T) { everyWidth(t, testTiles) }

func testTiles(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 3))
	for range 600 {
		w, h := 1+r.IntN(300), 1+r.IntN(9)
		if r.IntN(3) == 0 {
			w = 1 + r.IntN(20)
		}
		solid, parked := make([]byte, w*h), make([]byte, w*h)
		for i := range solid {
			if r.IntN(5) == 0 {
				solid[i] = 1
			}
			if r.IntN(9) == 0 {
				parked[i] = byte(r.UintN(256))
			}
		}
		solid, _ = fenced(t, r, solid)
		parked, _ = fenced(t, r, parked)
		words := (w + 127) / 128 * ((h + 1) / 2)
		set, stands := make([]uint64, words), make([]uint64, words)
		tilesPlain(solid, parked, w, h, set, stands)
		gotSet, gotStands := make([]uint64, words+1), make([]uint64, words+1)
		for i := range gotSet {
			gotSet[i], gotStands[i] = r.Uint64(), r.Uint64()
		}
		beyond := [2]uint64{gotSet[words], gotStands[words]}
		Tiles(solid, parked, w, h, gotSet, gotStands)
		require.Equal(t, set, gotSet[:words], "%dx%d", w, h)
		require.Equal(t, stands, gotStands[:words], "%dx%d", w, h)
		require.Equal(t, beyond, [2]uint64{gotSet[words], gotStands[words]})
	}
}

func TestStirsIsPlain(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 4))
	for range 600 {
		v := sightings(t, r)
		words := (len(v.Now) + 63) / 64
		want, got := make([]uint64, words), make([]uint64, words)
		stirsPlain(v.Flags, v.Solid, v.Parked, v.Stay, v.Young, want, 0)
		Stirs(v.Flags, v.Solid, v.Parked, v.Stay, v.Young, got)
		require.Equal(t, want, got)
	}
}
