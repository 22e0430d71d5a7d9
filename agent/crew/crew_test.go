package crew

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"vmsbridge/agent/camera"
	"vmsbridge/agent/codec"
	"vmsbridge/agent/pipeline"
	"vmsbridge/configs"
	"vmsbridge/storage/stills"
	"vmsbridge/uplink/vms"
)

// nowhere takes events.
type nowhere struct{}

func (nowhere) Put(vms.Event)           {}
func (nowhere) Touch(string, time.Time) {}

// bench is a crew whose cameras do not answer; pipelines are real.
type bench struct {
	*Crew
	mu     sync.Mutex
	made   map[string]int
	forgot []string
	broken string // a camera whose next pipeline panics as soon as it runs
}

func newBench(t *testing.T) *bench {
	t.Helper()
	ring, err := stills.Open(filepath.Join(t.TempDir(), "stills"), stills.Options{MaxBytes: 4 << 20, SegmentBytes: 1 << 20})
	require.NoError(t, err)
	pool := codec.NewPool(codec.Options{Isolation: codec.InProcess})
	reg := prometheus.NewRegistry()
	cfg := configs.Default()
	rooms := pipeline.Rooms{Ring: ring, Out: nowhere{}, Pool: pool, Metrics: pipeline.NewMetrics(reg), Cameras: camera.NewMetrics(reg), Log: slog.New(slog.DiscardHandler),
		Pace: pipeline.NewPace(cfg.Stills), Version: "1", Base: "http://x", Now: time.Now}
	b := &bench{made: map[string]int{}}
	b.Crew = New(Options{Log: rooms.Log, Registerer: reg, Forget: func(id string) { b.mu.Lock(); b.forgot = append(b.forgot, id); b.mu.Unlock() },
		Make: func(c configs.Camera) (*pipeline.Pipeline, error) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.made[c.ID]++
			if b.broken == c.ID {
				b.broken = ""
				return new(pipeline.Pipeline), nil
			}
			return pipeline.New(c, rooms)
		}})
	t.Cleanup(func() { require.NoError(t, errors.Join(pool.Close(), ring.Close())) })
	return b
}

func (b *bench) count(id string) int { b.mu.Lock(); defer b.mu.Unlock(); return b.made[id] }

// run runs the crew until stop.
func (b *bench) run(t *testing.T) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- b.Run(ctx) }()
	require.NoError(t, b.Ping(t.Context()))
	return func() { cancel(); require.ErrorIs(t, <-done, context.Canceled) }
}

func cam(id, url string) configs.Camera {
	return configs.Camera{ID: id, URL: url, Enabled: true, Motion: configs.CameraMotion{Motion: configs.Default().Motion}, Password: configs.NewSecret("p")}
}

const deaf = "rtsp://127.0.0.1:1/"

func TestApplyTouchesOnlyWhatChanged(t *testing.T) {
	b := newBench(t)
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	a, c, off := cam("a", deaf), cam("c", deaf), cam("off", deaf)
	off.Enabled = false
	require.NoError(t, b.Hire([]configs.Camera{a, c, off}))
	stop := b.run(t)
	defer stop()
	posts := b.Posts()
	require.Len(t, posts, 2)

	same := a
	same.Password = configs.NewSecret("p") // read anew: another pointer, the same secret
	change, err := b.Apply(t.Context(), []configs.Camera{c, same, off})
	require.NoError(t, err)
	require.True(t, change.Empty())
	require.Equal(t, []*Post{posts[1], posts[0]}, b.Posts(), "in the new order, and the same")

	secret, on := a, off
	secret.Password, on.Enabled = configs.NewSecret("q"), true
	change, err = b.Apply(t.Context(), []configs.Camera{secret, on})
	require.NoError(t, err)
	require.Equal(t, Change{Added: []string{"off"}, Removed: []string{"c"}, Restarted: []string{"a"}}, change)
	require.Equal(t, []string{"c"}, b.forgot)
	now := b.Posts()

	// One that cannot be made costs nothing.
	bad := cam("bad", deaf)
	bad.Motion.Masks = []configs.Polygon{{{0, 0}}}
	_, err = b.Apply(t.Context(), []configs.Camera{bad})
	require.ErrorContains(t, err, "bad")
	require.Equal(t, now, b.Posts())

	change, err = b.Apply(t.Context(), nil)
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"a", "off"}, change.Removed)
	require.Empty(t, b.Posts())
	require.NoError(t, b.Ping(t.Context()))
}

func TestAPanicCostsTheOthersNothing(t *testing.T) {
	b := newBench(t)
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	b.broken = "a"
	require.NoError(t, b.Hire([]configs.Camera{cam("a", deaf), cam("c", deaf)}))
	stop := b.run(t)
	require.Eventually(t, func() bool { return b.count("a") == 2 }, time.Minute, 5*time.Millisecond, "it starts again")
	require.Equal(t, 1, b.count("c"))
	require.Equal(t, 1.0, testutil.ToFloat64(b.restarts.WithLabelValues("a")))
	require.Equal(t, 0.0, testutil.ToFloat64(b.restarts.WithLabelValues("c")))
	stop()
}

func TestWithoutItsSupervisorACrewDoesNotAnswer(t *testing.T) {
	b := newBench(t)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, b.Ping(ctx), context.DeadlineExceeded)
	_, err := b.Apply(ctx, nil)
	require.ErrorIs(t, err, context.DeadlineExceeded)
}
