package tamper_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/cmd/camsim/scene"
	"vmsbridge/motion/tamper"
)

// play runs a drawn scene, five pictures a second.
func play(t *testing.T, name string, seed uint64) ([]found, []scene.Tamper) {
	t.Helper()
	const rate = 5
	s, err := scene.New(name, scene.Options{Width: viewWidth, Height: viewHeight, Rate: rate, Seed: seed})
	require.NoError(t, err)
	inner, err := tamper.New(tamper.Config{})
	require.NoError(t, err)
	w := &watcher{Watch: inner}
	luma := make([]byte, viewWidth*viewHeight)
	for i := range s.Len() {
		s.Luma(i, luma)
		w.step(picture(luma, float64(i)/rate))
	}
	w.take(w.Gap(), float64(s.Len())/rate)
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
