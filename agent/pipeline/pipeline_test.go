package pipeline

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"vmsbridge/agent/camera"
	"vmsbridge/agent/codec"
	"vmsbridge/agent/supervisor"
	"vmsbridge/configs"
	"vmsbridge/storage/stills"
	"vmsbridge/uplink/vms"
)

// bench is a pipeline without a camera: the test feeds it.
type bench struct {
	*Pipeline
	diary *diary
	ring  *stills.Ring
}

func newBench(t *testing.T, change func(*configs.Config)) *bench {
	t.Helper()
	cfg := configs.Default()
	cfg.Cameras = []configs.Camera{{ID: "c", URL: "rtsp://127.0.0.1:1/cam", Enabled: true,
		Motion: configs.CameraMotion{Motion: cfg.Motion}}}
	if change != nil {
		change(cfg)
	}
	log := slog.New(slog.DiscardHandler)
	ring, err := stills.Open(filepath.Join(t.TempDir(), "stills"),
		stills.Options{MaxBytes: 16 << 20, SegmentBytes: 4 << 20})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, ring.Close()) })
	pool := codec.NewPool(codec.Options{Isolation: codec.InProcess})
	t.Cleanup(func() { require.NoError(t, pool.Close()) })
	d := &diary{touched: map[string]time.Time{}}
	p, err := New(cfg.Cameras[0],
		Deps{Now: time.Now, Ring: ring, Out: d, Pool: pool, Metrics: NewMetrics(prometheus.NewRegistry()), Log: log,
			Account: cfg.Bridge.Account, Pace: NewPace(cfg.Stills), Version: "1", Base: "http://x"})
	require.NoError(t, err)
	return &bench{p, d, ring}
}

// events are what the pipeline has handed in, the newest form of each.
func (b *bench) events(t *testing.T) []vms.Event { return b.diary.newest(t) }

// diary is an outlet that remembers.
type diary struct {
	events  []vms.Event
	touched map[string]time.Time
}

func (d *diary) Put(ev vms.Event)                { d.events = append(d.events, ev) }
func (d *diary) Touch(id string, last time.Time) { d.touched[id] = last }

// newest is the newest form of each event, in the order in which they began.
func (d *diary) newest(t *testing.T) []vms.Event {
	t.Helper()
	var out []vms.Event
	place := map[string]int{}
	for _, ev := range d.events {
		require.Equal(t, ev.NaturalID(), ev.ID)
		require.True(t, ev.Ongoing() || !ev.EndTimestamp.Before(ev.StartTimestamp.Time), "%s ends before it starts",
			ev.ID)
		i, ok := place[ev.ID]
		if !ok {
			i = len(out)
			place[ev.ID], out = i, append(out, ev)
		}
		out[i] = ev
	}
	return out
}

// counting is a log that counts its lines.
type counting struct{ n atomic.Int64 }

func (c *counting) Enabled(context.Context, slog.Level) bool  { return true }
func (c *counting) Handle(context.Context, slog.Record) error { c.n.Add(1); return nil }
func (c *counting) WithAttrs([]slog.Attr) slog.Handler        { return c }
func (c *counting) WithGroup(string) slog.Handler             { return c }

// statuses are the status events as text, with milliseconds since epoch.
func (b *bench) statuses(t *testing.T) (out []string) {
	for _, ev := range b.events(t) {
		var s struct {
			NewStatus struct{ ConnectionStatus string }
		}
		if ev.Type != vms.TypeDeviceStatus {
			continue
		}
		require.NoError(t, ev.Data[1].Into(&s))
		out = append(out, s.NewStatus.ConnectionStatus)
	}
	return out
}

func TestPipelineEndsItsSpansAfterAPanic(t *testing.T) {
	b := newBench(t, nil)
	for i, u := range film(t, camera.MJPEG, 0)[:110] { // the person walks at 4 s to 12 s
		u.NewStream = i == 0
		b.queue.PutUnit(u)
		it, _ := b.queue.TryGet()
		b.unit(t.Context(), it.unit)
	}
	require.NotEmpty(t, b.spans, "the scene moves")
	b.detector = nil // a bug: every call of it panics from now on
	for _, u := range film(t, camera.MJPEG, 0)[110:115] {
		b.queue.PutUnit(u)
	}
	err := supervisor.Caught(func() error { return b.work(t.Context()) })()
	require.ErrorContains(t, err, "panic")
	events := b.events(t)
	require.Len(t, events, 2)
	for _, ev := range events {
		require.NotNil(t, ev.EndTimestamp, "%s goes on for ever", ev.ID)
		require.WithinDuration(t, at(11_000), ev.EndTimestamp.Time, 200*time.Millisecond)
	}
}

func TestPipelineLeavesNothingBehindWhenItCannotStart(t *testing.T) {
	b := newBench(t, func(c *configs.Config) {
		c.Cameras[0].PreviewURL = c.Cameras[0].URL
		c.Cameras[0].URL = "rtsp://127.0.0.1:1/cam#fragment"
	})
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	require.ErrorContains(t, b.Run(t.Context()), "fragment")
}

// A bug in what works on a camera ends its pipeline with an error, and leaves no goroutine.
func TestAPanicEndsThePipelineWithAnError(t *testing.T) {
	b := newBench(t, nil)
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	b.detector = nil // asked for an open span when the camera does not answer
	require.ErrorContains(t, b.Run(t.Context()), "panic")
}

func TestCameraWithDamagedPicturesOnlyIsNotOnline(t *testing.T) {
	b := newBench(t, nil)
	units := film(t, camera.MJPEG, 0)
	b.setState(camera.Status{State: camera.Online})
	b.unit(t.Context(), units[0])
	b.status(t.Context(), camera.Status{State: camera.NoKeyframe, Reason: "no keyframe", Since: at(50)})
	for _, u := range units[1:5] {
		u.Damaged = true
		b.unit(t.Context(), u)
	}
	require.Equal(t, []string{"online", "error"}, b.statuses(t))
	b.unit(t.Context(), units[5])
	require.Equal(t, []string{"online", "error", "online"}, b.statuses(t))
}

func TestDecoderTroubleIsSaidOnceAndPasses(t *testing.T) {
	b := newBench(t, nil)
	lines := &counting{}
	b.log = slog.New(lines)
	b.setState(camera.Status{State: camera.Online})
	lines.n.Store(0)
	for range 50 { // one at each keyframe
		b.decodeFailed(&codec.UnsupportedError{Format: codec.H264, Reason: "10 bit", Hint: "8 bit"})
	}
	require.LessOrEqual(t, lines.n.Load(), int64(2))
	require.Equal(t, camera.UnsupportedCodec, b.State().State)
	for _, u := range film(t, camera.MJPEG, 0)[:2] { // another profile was chosen in the camera, within the session
		b.unit(t.Context(), u)
	}
	require.Equal(t, camera.Online, b.State().State)
	require.Equal(t, []string{"error", "online"}, b.statuses(t))
	b.setTrouble(camera.Status{State: camera.UnsupportedCodec})
	b.setState(camera.Status{State: camera.Stale})
	require.Equal(t, camera.Stale, b.State().State, "a camera that is away is away")
}

func TestAnOutageIsNotedWhileItLasts(t *testing.T) {
	b := newBench(t, nil)
	b.status(t.Context(), camera.Status{State: camera.Unreachable, Reason: "no answer", Since: at(0)})
	b.idle(at(60_000))
	id := b.events(t)[0].ID
	require.Equal(t, at(60_000), b.diary.touched[id], "after a crash the outage would end where it began")
	b.unit(t.Context(), film(t, camera.MJPEG, 0)[0])
	online := b.events(t)[1].ID
	delete(b.diary.touched, online)
	b.idle(at(120_000))
	require.NotContains(t, b.diary.touched, online, "a camera is online only as long as pictures come")
}

func TestStillsOfAnMJPEGCameraAreItsOwnBytes(t *testing.T) {
	b := newBench(t, func(c *configs.Config) { c.Stills.PreviewWidth = 160 })
	u := film(t, camera.MJPEG, 0)[0]
	b.unit(t.Context(), u)
	s, err := b.ring.Find("c", stills.Preview, stills.At, u.Time)
	require.NoError(t, err)
	require.Equal(t, u.Data, s.JPEG, "as they came, also where they are wider than previews are made")
}

func TestSpansKeepTheirOrderWhenTheClockStepsBack(t *testing.T) {
	b := newBench(t, nil)
	units := film(t, camera.MJPEG, 0)
	for _, u := range units[:80] {
		b.unit(t.Context(), u)
	}
	for i, u := range units[:110] { // the source begins anew, an hour earlier
		u.Time = u.Time.Add(-time.Hour)
		u.NewStream = i == 0
		b.unit(t.Context(), u)
	}
	b.status(t.Context(), camera.Status{State: camera.Disconnected, Reason: "away", Since: at(11_000).Add(-time.Hour)})
	b.close()
	motions := 0
	for _, ev := range b.events(t) { // checks that none ends before it starts
		require.NotNil(t, ev.EndTimestamp, ev.ID)
		if ev.Type == vms.TypeMotion {
			motions++
			s, err := b.ring.Find("c", stills.Preview, stills.Before, ev.StartTimestamp.Add(imageDelay))
			require.NoError(t, err)
			require.False(t, s.Time.Before(ev.StartTimestamp.Time), "the picture of a span is of its time")
		}
	}
	require.Equal(t, 2, motions)
}

func TestANewStreamInAnotherSizeAndCodecGoesOn(t *testing.T) {
	b := newBench(t, nil)
	for _, u := range film(t, camera.H264, 0)[:60] {
		b.unit(t.Context(), u)
	}
	require.NotEmpty(t, b.spans)
	for i, u := range film(t, camera.MJPEG, 0)[61:110] {
		u.NewStream = i == 0
		b.unit(t.Context(), u)
	}
	b.close()
	motions := 0
	for _, ev := range b.events(t) {
		require.NotNil(t, ev.EndTimestamp, ev.ID)
		if ev.Type == vms.TypeMotion {
			motions++
		}
	}
	require.Equal(t, 2, motions, "one ends with the old stream, the other begins once the new one is known")
	s, err := b.ring.Find("c", stills.Main, stills.Before, at(11_000))
	require.NoError(t, err)
	require.True(t, s.Time.After(at(6000)))
}

func TestALostDecoderProcessCostsNoEvent(t *testing.T) {
	b := newBench(t, nil)
	pool := codec.NewPool(codec.Options{Isolation: codec.OwnProcess})
	defer func() { require.NoError(t, pool.Close()) }()
	b.deps.Pool = pool
	for i, u := range film(t, camera.H264, 0)[:150] {
		if i == 71 { // in the middle of a span, and of a group of 20 pictures
			require.NotEmpty(t, b.spans)
			killChildren(t)
		}
		b.unit(t.Context(), u)
		require.Equal(t, i >= 71 && i < 80, b.waitKey, "picture %d: the next keyframe is decoded, nothing before it", i)
	}
	b.close()
	var motions []vms.Event
	for _, ev := range b.events(t) {
		require.NotNil(t, ev.EndTimestamp, ev.ID)
		if ev.Type == vms.TypeMotion {
			motions = append(motions, ev)
		}
	}
	require.Len(t, motions, 1, "nine lost pictures do not cut a span")
	require.WithinDuration(t, at(4000), motions[0].StartTimestamp.Time, 500*time.Millisecond)
	require.WithinDuration(t, at(12_000), motions[0].EndTimestamp.Time, 500*time.Millisecond)
}

// killChildren kills this process's decoder processes, as the kernel does when memory runs out.
func killChildren(t *testing.T) {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	require.NoError(t, err)
	killed := 0
	for _, name := range stats {
		stat, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		var pid, parent int
		var state string
		rest := string(stat[bytes.LastIndexByte(stat, ')')+1:])
		if _, err := fmt.Sscan(rest, &state, &parent); err != nil || parent != os.Getpid() {
			continue
		}
		_, err = fmt.Sscan(string(stat), &pid)
		require.NoError(t, err)
		require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
		killed++
	}
	require.NotZero(t, killed)
}
