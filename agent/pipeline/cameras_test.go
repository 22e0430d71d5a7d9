package pipeline

import (
	"errors"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"vmsbridge/agent/camera"
	"vmsbridge/agent/codec"
	"vmsbridge/configs"
	"vmsbridge/storage/stills"
	"vmsbridge/uplink/vms"
)

// nowhere takes events.
type nowhere struct{}

func (nowhere) Put(vms.Event)           {}
func (nowhere) Touch(string, time.Time) {}

// A reload touches only the cameras whose section changed, whatever pointers the new file has.
func TestCamerasOfAChangedConfiguration(t *testing.T) {
	ring, err := stills.Open(filepath.Join(t.TempDir(), "stills"),
		stills.Options{MaxBytes: 4 << 20, SegmentBytes: 1 << 20})
	require.NoError(t, err)
	pool := codec.NewPool(codec.Options{Isolation: codec.InProcess})
	t.Cleanup(func() { require.NoError(t, errors.Join(pool.Close(), ring.Close())) })
	reg := prometheus.NewRegistry()
	deps := Deps{Ring: ring, Out: nowhere{}, Pool: pool, Metrics: NewMetrics(reg), Cameras: camera.NewMetrics(reg),
		Log: slog.New(slog.DiscardHandler), Pace: NewPace(configs.Default().Stills), Version: "1", Base: "http://x",
		Now: time.Now}
	c := NewCameras(deps, reg, nil)
	cam := func(id string) configs.Camera {
		return configs.Camera{ID: id, URL: "rtsp://127.0.0.1:1/", Enabled: true,
			Motion:   configs.CameraMotion{Motion: configs.Default().Motion},
			Password: configs.NewSecret("p")}
	}
	a, b, off := cam("a"), cam("b"), cam("off")
	off.Enabled = false
	require.NoError(t, c.Set(c.Tasks([]configs.Camera{a, b, off})))
	ctx, done := t.Context(), make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	t.Cleanup(func() { <-done })
	first := c.Workers()
	require.Len(t, first, 2, "one is off")

	same := a
	same.Password = configs.NewSecret("p") // read anew: another pointer, the same secret
	change, err := c.Apply(t.Context(), c.Tasks([]configs.Camera{b, same, off}))
	require.NoError(t, err)
	require.True(t, change.Empty())

	secret, on := a, off
	secret.Password, on.Enabled = configs.NewSecret("q"), true
	change, err = c.Apply(t.Context(), c.Tasks([]configs.Camera{secret, on}))
	require.NoError(t, err)
	require.Equal(t, []string{"a"}, change.Restarted)
	require.Equal(t, []string{"off"}, change.Added)
	require.Equal(t, []string{"b"}, change.Removed)
	require.NotSame(t, first[0].Worker, c.Workers()[0].Worker)
	now := c.Workers()

	bad := cam("bad")
	bad.Motion.Masks = []configs.Polygon{{{0, 0}}}
	_, err = c.Apply(t.Context(), c.Tasks([]configs.Camera{bad}))
	require.ErrorContains(t, err, "bad")
	require.Equal(t, now, c.Workers(), "one that cannot be made costs nothing")
}
