package tampering_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/scripts/harness"
	"vmsbridge/scripts/lab/scene"
)

// What was hard to tell apart: paint that lets a little of the scene through is no darkness,
// another view with a bright sky is no lamp, behind a lens far out of focus is no cloth, and a dark
// cloth whose noise the exposure brings up is no other view, also at night.
func TestReasons(t *testing.T) {
	if harness.Race {
		t.Skip("drawing these films takes minutes under the race detector: run go test ./tampering without -race, as " +
			"scripts/test does")
	}
	for _, c := range []struct {
		name string
		seed uint64
	}{
		{"sprayed", 91001}, {"sprayed", 501003}, {"turned", 94004}, {"defocused", 503003}, {"defocused",
			503006}, {"covered", 500021}, {"blinded", 502006},
		{"turned", 804000}, {"night+covered", 810002}, {"night+turned", 814000}, {"night+sprayed", 811009},
	} {
		t.Run(fmt.Sprintf("%s %d", c.name, c.seed), func(t *testing.T) {
			t.Parallel()
			spans, truth := show(t, c.name, scene.Options{Width: viewWidth, Height: viewHeight, Rate: 2, Seed: c.seed,
				Length: 40 * time.Second})
			require.Len(t, truth, 1)
			require.Len(t, spans, 1)
			require.Equal(t, truth[0].Reason, spans[0].reason.String())
			require.LessOrEqual(t, spans[0].told, truth[0].Start.Seconds()+10)
		})
	}
}

// People who walk up to the camera, crowds, trucks that stop before it in wind, fog and the dark,
// and lamps that go on and burn out half of the picture are no tampering.
func TestWhatIsCloseOrBrightIsNoTampering(t *testing.T) {
	if harness.Race {
		t.Skip("drawing these films takes minutes under the race detector: run go test ./tampering without -race, as " +
			"scripts/test does")
	}
	for _, c := range []struct {
		name string
		seed uint64
		long time.Duration
	}{
		{"nearing", 7, 50 * time.Second}, {"crowd", 7, 50 * time.Second}, {"infrared+nearing", 1021000,
			50 * time.Second}, {"tree+truck", 822000, 50 * time.Second},
		{"fog+truck", 1109000, 50 * time.Second}, {"shake+truck", 1113000, 50 * time.Second}, {"night+truck", 1816000,
			50 * time.Second},
		{"light-switch", 1601000, 240 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			spans, _ := show(t, c.name, scene.Options{Width: viewWidth, Height: viewHeight, Rate: 4, Seed: c.seed,
				Length: c.long})
			require.Empty(t, spans)
		})
	}
}
