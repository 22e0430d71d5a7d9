package tamper_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/cmd/camsim/scene"
)

// What was hard to tell apart: paint that lets a little of the scene through is no darkness, another view with a bright sky is no lamp, behind a lens far
// out of focus is no cloth, and a dark cloth whose noise the exposure brings up is no other view.
func TestReasons(t *testing.T) {
	if raced {
		t.Skip("drawing takes long under the race detector; this runs without it")
	}
	for _, c := range []struct {
		name string
		seed uint64
	}{
		{"sprayed", 91001}, {"sprayed", 501003}, {"turned", 94004}, {"defocused", 503003}, {"defocused", 503006}, {"covered", 500021}, {"blinded", 502006},
	} {
		t.Run(fmt.Sprintf("%s %d", c.name, c.seed), func(t *testing.T) {
			t.Parallel()
			spans, truth := show(t, c.name, scene.Options{Width: viewWidth, Height: viewHeight, Rate: 2, Seed: c.seed, Length: 40 * time.Second})
			require.Len(t, truth, 1)
			require.Len(t, spans, 1)
			require.Equal(t, truth[0].Reason, spans[0].reason.String())
			require.LessOrEqual(t, spans[0].told, truth[0].Start.Seconds()+10)
		})
	}
}

// People who walk up to the camera, and crowds, are no tampering.
func TestPeopleCloseAreNoTampering(t *testing.T) {
	if raced {
		t.Skip("drawing takes long under the race detector; this runs without it")
	}
	for _, name := range []string{"nearing", "crowd", "infrared+nearing", "tree+truck"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spans, _ := show(t, name, scene.Options{Width: viewWidth, Height: viewHeight, Rate: 5, Seed: 7, Length: 40 * time.Second})
			require.Empty(t, spans)
		})
	}
}
