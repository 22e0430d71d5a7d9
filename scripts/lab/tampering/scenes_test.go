package tampering_test

import (
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/motion"
	"vmsbridge/motion/tamper"
	"vmsbridge/scripts/harness"
	"vmsbridge/scripts/lab/scene"
)

const viewWidth, viewHeight = 320, 180

var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// found is a span, in seconds since the film began.
type found struct {
	reason      tamper.Reason
	told        float64 // when Began came
	start, last float64
}

// seeds is how many scenes of each kind are tried: $TAMPER_SEEDS, or the usual number.
func seeds(t testing.TB, usual uint64) uint64 {
	text := os.Getenv("TAMPER_SEEDS")
	if text == "" {
		return usual
	}
	n, err := strconv.ParseUint(text, 10, 32)
	require.NoError(t, err)
	return n
}

// some is every fifth where the race detector is at work.
func some[T any](all []T) (out []T) {
	for i, v := range all {
		if !harness.Race || i%5 == 0 {
			out = append(out, v)
		}
	}
	return out
}

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
	w, err := tamper.New(tamper.Config{})
	require.NoError(t, err)
	var spans []found
	take := func(changes []tamper.Change, at float64) {
		for _, c := range changes {
			if c.Kind == tamper.Began {
				spans = append(spans, found{reason: c.Reason, told: at, start: c.Start.Sub(epoch).Seconds()})
				continue
			}
			spans[len(spans)-1].last = c.Last.Sub(epoch).Seconds()
		}
	}
	luma := make([]byte, o.Width*o.Height)
	for i := range s.Len() {
		s.Luma(i, luma)
		at := float64(i) / float64(o.Rate)
		take(w.Step(motion.Picture{Luma: luma, Width: o.Width, Height: o.Height, Stride: o.Width,
			Time: epoch.Add(time.Duration(at * float64(time.Second)))}), at)
	}
	take(w.Gap(), float64(s.Len())/float64(o.Rate))
	return spans, s.Tampering()
}

// The drawn scenes of tampering, by the truth that comes with them.
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
	for _, name := range some([]string{"person", "quiet", "light-switch", "dimmer", "infrared", "clouds", "headlights",
		"rain", "snow", "insects", "clock", "keyframes",
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

// By night, in infrared, other edges stand out: how sharp those are is no measure for the day that
// comes back.
func TestInfraredIsNoMeasureOfFocus(t *testing.T) {
	if harness.Race {
		t.Skip("drawing 2000 pictures takes a minute under the race detector: run go test ./tampering without -race, " +
			"as scripts/test does")
	}
	spans, _ := show(t, "infrared", scene.Options{Width: 320, Height: 180, Rate: 10, Seed: 103001,
		Length: 200 * time.Second})
	require.Empty(t, spans)
}
