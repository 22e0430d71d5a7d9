package accuracy_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestTruckDrivesOff: what fills half the view and drives off moves nearly everywhere within a few
// pictures. That is no change of the whole scene, but an event. A lamp that comes on in two steps
// changes the whole scene twice, and hides nobody.
func TestTruckDrivesOff(t *testing.T) {
	for _, c := range []trial{
		{name: "truck", seed: 500, rate: 10, length: 40 * time.Second},
		{name: "truck", seed: 514, rate: 10, length: 40 * time.Second},
		{name: "light-switch+walker", seed: 82009, rate: 15, length: 30 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.width, c.height = 320, 180
			v := c.try()
			require.NoError(t, v.err)
			require.NotZero(t, v.walks)
			require.Equal(t, v.walks, v.found, "%v", v.problems)
		})
	}
}
