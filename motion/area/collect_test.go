package area

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/motion/plane"
)

// littered are views of an odd number of cells, of which some are solid and differ, here and there,
// and some are places of what stands there.
func littered(r *rand.Rand) *plane.Views {
	w, h := 1+r.IntN(120), 1+r.IntN(90)
	values := func(most uint) []uint16 {
		v := make([]uint16, w*h)
		for i := range v {
			v[i] = uint16(r.UintN(most))
		}
		return v
	}
	same := plane.Exposure{Gain: plane.GainOne}
	v := &plane.Views{Now: values(65281), Background: values(65281), Noise: values(2000), Stay: values(3000), Width: w,
		Height: h,
		Parked: make([]uint8, w*h), Worn: make([]uint8, w*h), Flags: make([]byte, w*h), Solid: make([]byte, w*h),
		Light: same, BlinkLight: same, Contrast: 1536, Young: CreepAge}
	v.Before, v.Blink = v.Now, v.Now
	some := 1 + r.IntN(6)
	for i := range v.Solid {
		v.Worn[i] = uint8(r.UintN(256))
		if r.IntN(60) == 0 {
			v.Parked[i] = uint8(r.UintN(5))
		}
		if (i%w/9+i/w/7)%some == 0 && r.IntN(4) > 0 {
			v.Flags[i], v.Solid[i] = byte(r.UintN(4)), byte(r.UintN(2))
		}
	}
	return v
}

// TestCollectChooses compares areas that are all measured with those that are chosen by a count
// first.
func TestCollectChooses(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	few, many, dropped := 0, 0, 0
	for range 400 {
		v := littered(r)
		var l Finder
		l.Resize(v.Width, v.Height)
		l.Label(v.Solid, v.Parked)
		least := 1 + r.IntN(60)
		number := l.number[:len(l.parent)]
		l.areas = l.areas[:0]
		l.choose(number, l.counts[:len(l.parent)], v, least)
		for i := range number {
			number[i] = number[l.root(uint16(i))]
		}
		l.measure(v)
		want, numbered := slices.Clone(l.areas), slices.Clone(number)

		got := l.Collect(v, least)
		require.Equal(t, len(want), len(got))
		require.True(t, slices.Equal(want, got), "%+v\n%+v", want, got)
		require.Equal(t, numbered, number)
		l.areas = l.areas[:0]
		switch fits := l.place(number); {
		case !fits:
			many++
		case len(l.areas) > len(want):
			dropped++
		default:
			few++
		}
	}
	require.Greater(t, few, 10)
	require.Greater(t, dropped, 10)
	require.Greater(t, many, 10)
}

// TestOfIsOfRun: whichever way it is asked for, the area of a cell is that of the newest picture.
func TestOfIsOfRun(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 2))
	asked := 0
	for range 100 {
		v := littered(r)
		var l Finder
		l.Resize(v.Width, v.Height)
		for range 3 { // pictures, of one finder
			for i := range v.Solid {
				v.Solid[i] = byte(r.UintN(2)) & v.Flags[i]
			}
			l.Label(v.Solid, v.Parked)
			l.Collect(v, 1+r.IntN(9))
			for _, run := range l.Runs() {
				left, right, top, bottom := l.Cells(run)
				for _, at := range [2][2]int{{left, top}, {right - 1, bottom - 1}} {
					require.Equal(t, l.OfRun(run), l.Of(at[0], at[1]))
					asked++
				}
			}
		}
	}
	require.Greater(t, asked, 10_000)
}
