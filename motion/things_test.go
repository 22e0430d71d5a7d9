package motion_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/motion"
)

// The box of a person ends at the feet, not where the shadow on the floor does.
func TestThingsAreWithoutTheirShadow(t *testing.T) {
	s := newScene(320, 180, 5, 1)
	d, err := motion.New(motion.Config{})
	require.NoError(t, err)
	var box motion.Box
	for i := range 90 {
		s.empty()
		if x := 0.1 + 0.01*float64(i-40); i >= 40 {
			for y := 140; y < 171; y++ { // on the floor, to the right of the feet and below them
				for px := int(x * 320); px < int((x+0.16)*320); px++ {
					s.picture[y*320+px] *= 0.88
				}
			}
			s.thing(x, 0.35, 0.08, 0.5, 20, 8)
		}
		d.Step(s.take(epoch.Add(time.Duration(i) * 100 * time.Millisecond)))
		list := d.Things(nil)
		if i < 80 {
			continue
		}
		x := 0.1 + 0.01*float64(i-40)
		require.NotEmpty(t, list)
		box = list[0].Box
		for _, o := range list {
			if o.Box.Bottom-o.Box.Top > box.Bottom-box.Top {
				box = o.Box
			}
		}
		require.InDelta(t, 0.85, box.Bottom, 0.025, "its feet, in picture %d", i)
		require.InDelta(t, x+0.08, box.Right, 0.025, "its right side, in picture %d", i)
	}
}
