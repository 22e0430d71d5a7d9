package camera

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/agent/camera/clip"
	"vmsbridge/agent/camera/unit"
	"vmsbridge/scripts/harness"
)

// When this machine's clock is set back by hours the stream starts anew with the right time.
func TestClockSetBackRestartsStream(t *testing.T) {
	t.Parallel()
	cam := (&fakeCamera{clip: clip.Load(t, "plain.h264")}).start(t)
	src, ctx, cancel := newSource(t, testConfig(cam.url))
	back := make(chan struct{})
	began := time.Now()
	src.clock = unit.Follow(func() (time.Time, time.Duration) {
		w := time.Now()
		m := w.Sub(began)
		select {
		case <-back:
			return w, m
		default:
			return w.Add(2 * time.Hour), m
		}
	})
	r := run(t, src, ctx, cancel)
	for _, u := range r.waitUnits(10) {
		require.WithinDuration(t, time.Now().Add(2*time.Hour), u.Time, time.Minute)
	}
	close(back)
	harness.Until(t, "a new stream", func() bool { return newStreams(r.all()) == 2 })
	units := r.waitUnits(len(r.all()) + 10)
	last := units[len(units)-1]
	require.WithinDuration(t, time.Now(), last.Time, time.Minute)
	require.Contains(t, r.waitState(Disconnected).Reason, "clock was set back")
}
