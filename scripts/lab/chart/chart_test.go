package chart

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/vg"
	"pgregory.net/rapid"
)

// sample is a chart with everything in it.
func sample(length time.Duration) Chart {
	var a Activity
	n := 2000
	for i := range n {
		share := 0.0
		if i%200 > 120 && i%200 < 150 {
			share = 0.05
		}
		a.Add(time.Duration(float64(i)*float64(length)/float64(n)), share)
	}
	luma := image.NewGray(image.Rect(0, 0, 160, 90))
	moving := make([]byte, 160*90)
	for i := range luma.Pix {
		luma.Pix[i] = byte(i % 160)
		if i%160 > 40 && i%160 < 80 {
			moving[i] = 255
		}
	}
	return Chart{Title: "yard.mp4", Subtitle: "640x360", Length: length, Threshold: 0.0004, Activity: &a,
		Lanes: []Lane{{"motion", Amber, []Bar{{length / 4, length / 2, false}}},
			{"Door with a very long name", Palette[0], nil}, {"labelled", Indigo, []Bar{{0, length / 8, true}}}},
		Stills: []Still{{At: length / 3, Luma: luma, Moving: moving, Boxes: [][4]float64{{0.25, 0.1, 0.5, 0.9}},
			Caption: [2]string{"0:01 – 0:02 motion", "1 s"}},
			{At: length / 2, Luma: luma}},
		Areas: []Area{{Corners: [][2]float64{{0, 0}, {1, 0}, {1, 0.1}}, Mask: true},
			{Corners: [][2]float64{{0.2, 0.2}, {0.8, 0.2}, {0.8, 0.9}}, Colour: Palette[0]}}}
}

// count counts the pixels of a colour.
func count(m image.Image, r image.Rectangle, c color.NRGBA) int {
	rgba, n := m.(*image.RGBA), 0
	for y := r.Min.Y; y < r.Max.Y; y++ {
		row := rgba.Pix[rgba.PixOffset(r.Min.X, y):rgba.PixOffset(r.Max.X, y)]
		for ; len(row) > 0; row = row[4:] {
			if row[0] == c.R && row[1] == c.G && row[2] == c.B {
				n++
			}
		}
	}
	return n
}

func TestChartShowsWhatItIsGiven(t *testing.T) {
	c := sample(2 * time.Minute)
	var out bytes.Buffer
	require.NoError(t, c.Encode(&out))
	m, err := png.Decode(&out)
	require.NoError(t, err)
	require.Equal(t, pageWidth, m.Bounds().Dx())
	plot := image.Rect(0, plotTop, pageWidth, plotTop+plotHeight+plotRest)
	require.Greater(t, count(m, plot, curve), 1000, "the curve")
	require.Greater(t, count(m, plot, Red), 500, "the threshold")
	require.InDelta(t, 0.25*1400*laneHeight*0.6, float64(count(m, plot, Amber)), 1500,
		"the bar is a quarter of the axis")
	require.Greater(t, count(m, image.Rect(0, 0, pageWidth, 60), ink), 200, "the title")
	stills := image.Rect(0, plotTop+plotHeight+200, pageWidth, m.Bounds().Dy())
	require.Greater(t, count(m, stills, Amber), 300, "the box")
	require.Less(t, count(m, m.Bounds(), color.NRGBA{0xff, 0xff, 0xff, 0xff}),
		m.Bounds().Dx()*m.Bounds().Dy()*9/10, "not blank")

	// The same without the curve is another picture where the curve was.
	c.Activity = &Activity{}
	require.Less(t, count(c.Draw(), plot, curve), 60, "in the legend alone")
}

// The numbers of stills that are close in time stand beside each other, in order and within the
// plot; others stand above their time.
func TestNumbersDoNotHideEachOther(t *testing.T) {
	got := apart([]vg.Length{100, 101, 102, 700, 1396, 1397, 1400, 1400}, 1400)
	require.Equal(t, []vg.Length{100, 124, 148, 700, 1328, 1352, 1376, 1400}, got)
}

// Whatever there is to show, there is a chart: from one picture to days, without spans, with far
// too many.
func TestChartOfAnything(t *testing.T) {
	for _, length := range []time.Duration{0, 300 * time.Millisecond, 90 * time.Minute, 400 * 24 * time.Hour} {
		require.Greater(t, sample(length).Draw().Bounds().Dy(), 500)
	}
	require.NotNil(t, Chart{}.Draw())
	c := sample(time.Minute)
	for i := range 100 {
		c.Lanes = append(c.Lanes, Lane{Name: fmt.Sprint(i), Colour: Red})
	}
	c.Stills = append(c.Stills, Still{Luma: image.NewGray(image.Rect(0, 0, 9, 400))},
		Still{Luma: image.NewGray(image.Rect(0, 0, 1, 1))})
	require.Less(t, c.Draw().Bounds().Dy(), 3000)
}

// However long a recording is, the memory is the same and no peak is lost.
func TestActivityKeepsPeaks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var a Activity
		step := time.Duration(rapid.IntRange(1, 100_000).Draw(t, "ms")) * time.Millisecond
		n := rapid.IntRange(1, 12_000).Draw(t, "pictures")
		peak := rapid.IntRange(0, n-1).Draw(t, "peak")
		for i := range n {
			v := 0.001
			if i == peak {
				v = 0.5
			}
			a.Add(time.Duration(i)*step, v)
		}
		require.LessOrEqual(t, len(a.values), bins)
		at := time.Duration(peak) * step
		require.InDelta(t, 0.5, a.most(at, at+1), 1e-6)
		require.InDelta(t, 0.5, a.most(0, time.Duration(n)*step), 1e-6)
	})
}

func TestActivityHoldsShortly(t *testing.T) {
	var a Activity
	require.Negative(t, a.most(0, time.Second))
	a.Add(0, 0.1)
	a.Add(10*time.Second, 0.2)
	require.InDelta(t, 0.1, a.most(time.Second, time.Second+time.Millisecond), 1e-6)
	require.Negative(t, a.most(5*time.Second, 5*time.Second+time.Millisecond), "no picture: no curve")
}
