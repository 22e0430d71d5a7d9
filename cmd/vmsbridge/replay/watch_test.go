package replay

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/agent/codec/planar"
	"vmsbridge/agent/pipeline"
	"vmsbridge/cmd/vmsbridge/replay/footage"
	"vmsbridge/configs"
	"vmsbridge/motion"
	"vmsbridge/motion/tamper"
	"vmsbridge/uplink/vms"
)

const width, height = 640, 360

// room is the picture without anything that moves, and stripes the pattern of what does.
var room, stripes = func() (r [width * height]byte, s [120]byte) {
	for i := range r {
		x, y := i%width, i/width
		r[i] = byte(70 + (x/16*31+y/16*17)%60)
	}
	for i := range s {
		s[i] = byte(190 + i%40)
	}
	return r, s
}()

// walk draws picture i of a textured room, through which a bright thing of 60x160 pixels goes from
// picture from on, 200 pixels a second, at the rate.
func walk(i, from int, rate float64) planar.Plane {
	p := planar.NewPlane(width, height)
	copy(p.Pix, room[:])
	x0 := int(float64(i-from)*200/rate) - 60
	left, right := max(0, x0), min(width, x0+60)
	if i < from || left >= right {
		return p
	}
	for y := 120; y < 280; y++ {
		copy(p.Pix[y*width+left:y*width+right], stripes[(left-x0+y)%40:])
	}
	return p
}

// play runs seconds of the walk, which begins after four, through a Watch.
func play(t *testing.T, w *Watch, rate float64, seconds int, each func(i int, s Seen)) []Event {
	t.Helper()
	var all []Event
	for i := range int(rate * float64(seconds)) {
		s := w.Picture(footage.Picture{Number: i, At: time.Duration(float64(i) / rate * float64(time.Second)),
			Image: planar.Image{Width: width, Height: height, FullRange: true, Y: walk(i, int(4*rate), rate)}})
		all = append(all, s.Ended...)
		if each != nil {
			each(i, s)
		}
	}
	return append(all, w.Close()...)
}

func byType(events []Event, kind string) (out []Event) {
	for _, ev := range events {
		if ev.Type == kind {
			out = append(out, ev)
		}
	}
	return out
}

// Frames are the source's own, also where the rate leaves pictures out.
func TestFramesAtAnyRate(t *testing.T) {
	for _, rate := range []float64{5, 10, 25, 30} {
		w, err := NewWatch(Settings{Rate: 10})
		require.NoError(t, err)
		looked := 0
		spans := byType(play(t, w, rate, 14, func(_ int, s Seen) {
			if s.Looked {
				looked++
			}
		}), vms.TypeMotion)
		require.Len(t, spans, 1, "at %v pictures a second", rate)
		ev := spans[0]
		// It enters at 4 s and has gone after (640+60)/200 s more.
		require.InDelta(t, 4.0, ev.Start.At.Seconds(), 0.4, "at %v", rate)
		require.InDelta(t, 7.5, ev.End.At.Seconds(), 0.5, "at %v", rate)
		require.InDelta(t, ev.Start.At.Seconds()*rate, float64(ev.Start.Frame), 0.01)
		require.InDelta(t, ev.End.At.Seconds()*rate, float64(ev.End.Frame), 0.01)
		require.Greater(t, ev.Best.Frame, ev.Start.Frame)
		require.LessOrEqual(t, ev.Best.Frame, ev.End.Frame)
		require.InDelta(t, 60*160/float64(width*height), ev.Share, 0.04)
		require.NotEmpty(t, ev.Boxes)
		want := map[float64]int{5: 70, 10: 140, 25: 175, 30: 140}[rate]
		require.Equal(t, want, looked, "at %v", rate)
	}
}

// The spans are those of a detector that is fed by hand as the bridge feeds it.
func TestAsTheBridge(t *testing.T) {
	settings := motion.Config{Sensitivity: 0.6,
		Regions: []motion.Region{{ID: "left", Name: "Left", Area: motion.Polygon{{0, 0}, {0.4, 0}, {0.4, 1}, {0, 1}}}}}
	w, err := NewWatch(Settings{Motion: settings, Rate: 10})
	require.NoError(t, err)
	got := play(t, w, 25, 14, nil)

	d, err := motion.New(settings)
	require.NoError(t, err)
	pace := pipeline.NewSampler(10)
	type end struct {
		region      string
		start, last time.Duration
	}
	var want []end
	take := func(changes []motion.Change) {
		for _, c := range changes {
			if c.Kind == motion.Ended {
				want = append(want, end{c.Region, c.Start.Sub(epoch), c.Last.Sub(epoch)})
			}
		}
	}
	for i := range 14 * 25 {
		at := epoch.Add(time.Duration(i) * 40 * time.Millisecond)
		if !pace.Due(at) {
			continue
		}
		luma := planar.Luma(planar.Image{Width: width, Height: height, FullRange: true, Y: walk(i, 100, 25)}, 320, 180)
		take(d.Step(motion.Picture{Luma: luma, Width: 320, Height: 180, Stride: 320, Time: at}).Changes)
	}
	take(d.Gap())
	require.Len(t, want, 2)
	var ends []end
	for _, ev := range got {
		ends = append(ends, end{ev.Region, ev.Start.At, ev.End.At})
		require.Equal(t, map[bool]string{true: vms.TypeMotion, false: vms.TypeMotionInRegion}[ev.Region == ""], ev.Type)
		require.Equal(t, map[bool]string{true: "", false: "Left"}[ev.Region == ""], ev.RegionName)
	}
	require.Equal(t, want, ends)
}

// A span that is open at the end is ended, and damaged pictures keep their numbers.
func TestOpenEndAndDamage(t *testing.T) {
	w, err := NewWatch(Settings{Rate: 10})
	require.NoError(t, err)
	var all []Event
	for i := range 60 {
		p := footage.Picture{Number: i, At: time.Duration(i) * 100 * time.Millisecond,
			Image: planar.Image{Width: width, Height: height, FullRange: true, Y: walk(i, 40, 10)}}
		if i%10 == 5 {
			p.Image, p.Damaged = planar.Image{}, errors.New("broken")
		}
		all = append(all, w.Picture(p).Ended...)
	}
	require.Empty(t, byType(all, vms.TypeMotion))
	rest := byType(w.Close(), vms.TypeMotion)
	require.Len(t, rest, 1)
	require.InDelta(t, 40, rest[0].Start.Frame, 3)
	require.Equal(t, 59, rest[0].End.Frame)
}

// A view that is covered is an event of its own kind, with its reason, once and over its whole
// length.
func TestCoveredView(t *testing.T) {
	w, err := NewWatch(Settings{Rate: 10, Tamper: &tamper.Config{}})
	require.NoError(t, err)
	var all []Event
	tampered := -1
	dark := planar.NewPlane(width, height)
	for i := range 480 {
		y := walk(0, 1000, 10)
		if i >= 250 && i < 400 {
			y = dark
		}
		for k := i % 7; k < len(y.Pix); k += 13 { // a camera is never quite still
			y.Pix[k] ^= byte(1 + i%3)
		}
		s := w.Picture(footage.Picture{Number: i, At: time.Duration(i) * 100 * time.Millisecond,
			Image: planar.Image{Width: width, Height: height, FullRange: true, Y: y}})
		all = append(all, s.Ended...)
		if s.Tampered && tampered < 0 {
			tampered = i
		}
	}
	spans := byType(append(all, w.Close()...), vms.TypeTamper)
	require.Len(t, spans, 1)
	require.Equal(t, "covered", spans[0].Reason)
	require.InDelta(t, 250, spans[0].Start.Frame, 15)
	require.InDelta(t, 399, spans[0].End.Frame, 15)
	require.Greater(t, tampered, 250)
	require.LessOrEqual(t, tampered, 350, "within ten seconds")
}

func TestBadSettings(t *testing.T) {
	_, err := NewWatch(Settings{Motion: motion.Config{Sensitivity: 2}})
	require.ErrorContains(t, err, "sensitivity")
}

// What crosses a line and is in an area is found as the bridge finds it.
func TestLinesAndAreas(t *testing.T) {
	rules, _ := pipeline.RuleConfig(configs.CameraMotion{
		Lines: []configs.Line{{ID: "l", Name: "Middle", Direction: "any",
			Points: configs.Polyline{{0.5, 0}, {0.5, 1}}}},
		Areas: []configs.Area{{ID: "a", Intrusion: true, Loiter: 2 * time.Second,
			Area: configs.Polygon{{0, 0}, {1, 0}, {1, 1}, {0, 1}}}}})
	w, err := NewWatch(Settings{Rate: 10, Rules: &rules})
	require.NoError(t, err)
	events := play(t, w, 10, 10, nil)
	crossed := byType(events, vms.TypeLineCross)
	require.Len(t, crossed, 1)
	require.Equal(t, "b-to-a", crossed[0].Direction)
	require.Equal(t, "Middle", crossed[0].RegionName)
	require.InDelta(t, 4+350/200.0, crossed[0].Start.At.Seconds(), 0.25)
	require.Equal(t, crossed[0].Start, crossed[0].End)
	for kind, start := range map[string]float64{vms.TypeIntrusion: 4, vms.TypeLoiter: 6} {
		inside := byType(events, kind)
		require.Len(t, inside, 1)
		require.InDelta(t, start, inside[0].Start.At.Seconds(), 0.4, kind)
		require.InDelta(t, 7.5, inside[0].End.At.Seconds(), 0.5, kind)
	}
}
