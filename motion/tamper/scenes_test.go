package tamper_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/cmd/camsim/scene"
	"vmsbridge/motion/tamper"
)

// play runs a drawn scene, five pictures a second.
func play(t *testing.T, name string, seed uint64) ([]found, []scene.Tamper) {
	t.Helper()
	return show(t, name, scene.Options{Width: viewWidth, Height: viewHeight, Rate: 5, Seed: seed})
}

// show runs a scene.
func show(t *testing.T, name string, o scene.Options) ([]found, []scene.Tamper) {
	t.Helper()
	s, err := scene.New(name, o)
	require.NoError(t, err)
	inner, err := tamper.New(tamper.Config{})
	require.NoError(t, err)
	w := &watcher{Watch: inner}
	luma := make([]byte, o.Width*o.Height)
	for i := range s.Len() {
		s.Luma(i, luma)
		p := picture(luma, float64(i)/float64(o.Rate))
		p.Width, p.Height, p.Stride = o.Width, o.Height, o.Width
		w.step(p)
	}
	w.take(w.Gap(), float64(s.Len())/float64(o.Rate))
	return w.spans, s.Tampering()
}

// The simulated camera's scenes of tampering, by the truth that comes with them.
func TestTamperedScenesAreFound(t *testing.T) {
	for _, name := range some([]string{"covered", "sprayed", "blinded", "defocused", "turned", "frozen"}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range seeds(t, 1) {
				spans, truth := play(t, name, seed)
				require.Len(t, truth, 1)
				require.Len(t, spans, 1, "seed %d", seed)
				require.LessOrEqual(t, spans[0].told, truth[0].Start.Seconds()+10, "seed %d", seed)
				require.InDelta(t, truth[0].End.Seconds(), spans[0].last, 3, "seed %d", seed)
			}
		})
	}
}

// Its other scenes hold none, whoever walks through them.
func TestOtherScenesHoldNoTampering(t *testing.T) {
	for _, name := range some([]string{"person", "quiet", "light-switch", "dimmer", "infrared", "clouds", "headlights", "rain", "snow", "insects", "clock", "keyframes",
		"night", "tree", "shake", "flicker", "screen", "focus", "truck", "fog"}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range seeds(t, 1) {
				spans, _ := play(t, name, seed)
				require.Empty(t, spans, "seed %d", seed)
			}
		})
	}
}

// By night, in infrared, other edges stand out: how sharp those are is no measure for the day that comes back.
func TestInfraredIsNoMeasureOfFocus(t *testing.T) {
	if raced {
		t.Skip("drawing 2000 pictures takes a minute under the race detector: run go test ./motion/tamper without -race, as scripts/test does")
	}
	spans, _ := show(t, "infrared", scene.Options{Width: 320, Height: 180, Rate: 10, Seed: 103001, Length: 200 * time.Second})
	require.Empty(t, spans)
}
