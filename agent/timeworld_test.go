package agent

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/agent/archive"
	"vmsbridge/agent/camera"
	"vmsbridge/agent/clock"
	"vmsbridge/agent/codec"
	"vmsbridge/configs"
	"vmsbridge/storage/journal"
	"vmsbridge/storage/stills"
	"vmsbridge/uplink/vms"
)

// What every record must end within of the truth.
const exact = 100 * time.Millisecond

// quartz is a machine whose clocks the test sets. The truth is that of the machine on which the
// test runs.
type quartz struct {
	mu     sync.Mutex
	id     string
	booted time.Time
	drift  float64 // of the boot clock
	wrong  time.Duration
	synced bool
}

func (q *quartz) BootID() string { q.mu.Lock(); defer q.mu.Unlock(); return q.id }

func (q *quartz) Boot() time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	gone := time.Since(q.booted)
	return gone + time.Duration(float64(gone)*q.drift)
}

func (q *quartz) Read() clock.Reading {
	boot := q.Boot()
	q.mu.Lock()
	defer q.mu.Unlock()
	return clock.Reading{Wall: time.Now().Round(0).Add(q.wrong), Boot: boot, Synced: q.synced}
}

// set makes the wall clock wrong by so much, or right. synced is what the kernel says of it.
func (q *quartz) set(wrong time.Duration, synced bool) {
	q.mu.Lock()
	q.wrong, q.synced = wrong, synced
	q.mu.Unlock()
}

// reboot begins another boot, with a clock that shows a time.
func (q *quartz) reboot(id string, shows time.Time) {
	q.mu.Lock()
	q.id, q.booted, q.synced, q.wrong = id, time.Now(), false, time.Until(shows)
	q.mu.Unlock()
}

// witness has seen every picture of a camera, at its true time.
type witness struct {
	mu   sync.Mutex
	seen map[[32]byte][]time.Time
}

func (w *witness) watch(ctx context.Context, t *testing.T, c configs.Camera) {
	s, err := camera.New(camera.Config{URL: c.URL, Username: c.Username, Password: c.Password.Reveal(),
		Transport: camera.TransportTCP},
		slog.New(slog.DiscardHandler), nil)
	require.NoError(t, err)
	w.seen = map[[32]byte][]time.Time{}
	go func() {
		_ = s.Run(ctx, camera.Handler{OnUnit: func(u camera.AccessUnit) {
			w.mu.Lock()
			defer w.mu.Unlock()
			sum := sha256.Sum256(u.Data)
			w.seen[sum] = append(w.seen[sum], u.Time)
		}})
	}()
}

// error is how far a time is from the nearest at which this picture was taken.
func (w *witness) error(t *testing.T, jpeg []byte, at time.Time) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	times := w.seen[sha256.Sum256(jpeg)]
	require.NotEmpty(t, times, "a picture that no one has taken")
	return nearest(times, at)
}

// nearest is the difference to the nearest of some times.
func nearest(times []time.Time, at time.Time) time.Duration {
	best := at.Sub(times[0])
	for _, x := range times {
		if d := at.Sub(x); d.Abs() < best.Abs() {
			best = d
		}
	}
	return best
}

// world is a site with a bridge whose clock was never wrong, and a witness.
type world struct {
	*site
	witness
	control *box
}

func newWorld(t *testing.T, faults ...string) *world {
	s, stop := newSite(t, faults...)
	w := &world{site: s}
	ctx, cancel := context.WithCancel(t.Context())
	w.watch(ctx, t, s.cfg.Cameras[0])
	w.control = w.box(t, &quartz{booted: time.Now(), id: "c", synced: true})
	end := w.control.start()
	t.Cleanup(func() { end(); cancel(); stop() })
	return w
}

// box is a bridge with a clock of its own, and its service.
type box struct {
	t      *testing.T
	w      *world
	m      *quartz
	cfg    *configs.Config
	office *office
	agent  *Agent
	began  []time.Time // true times
	rough  int         // how many of these runs were of a boot that ended before the clock was true
	ended  []time.Time
}

func (w *world) box(t *testing.T, m *quartz) *box {
	b := &box{t: t, w: w, m: m, office: &office{events: map[string]vms.Event{}}}
	service := httptest.NewServer(b.office)
	t.Cleanup(service.Close)
	cfg := *w.cfg
	cfg.Bridge.Data, cfg.Service.URL, cfg.Service.Tunnel = filepath.Join(t.TempDir(), "data"), service.URL, false
	cfg.Cameras, cfg.Decode.Isolation, cfg.Clock.Wait = slices.Clone(w.cfg.Cameras[:1]), codec.InProcess, time.Hour
	cfg.Stills.PreviewInterval = time.Second
	b.cfg = &cfg
	return b
}

// start runs the bridge.
func (b *box) start() (stop func()) {
	a, err := New(b.cfg, Options{Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Version: "1", Machine: b.m,
		settle: 500 * time.Millisecond})
	require.NoError(b.t, err)
	ready := make(chan net.Addr, 1)
	a.opts.Ready = func(addr net.Addr) { ready <- addr }
	ctx, cancel := context.WithCancel(b.t.Context())
	ended := make(chan error, 1)
	b.began = append(b.began, time.Now())
	go func() { ended <- a.Run(ctx) }()
	select {
	case <-ready:
	case err := <-ended:
		require.NoError(b.t, err)
	}
	b.agent = a
	return func() {
		cancel()
		require.NoError(b.t, <-ended)
		b.ended = append(b.ended, time.Now())
	}
}

func (b *box) eventually(what string, f func() bool) {
	b.t.Helper()
	require.Eventually(b.t, f, 60*time.Second, 10*time.Millisecond, what)
}

// moves waits for a motion that goes on; rests for so many that have ended since the start.
func (b *box) moves() {
	b.eventually("motion", func() bool {
		open, err := b.agent.archive.Journal.Unfinished()
		require.NoError(b.t, err)
		return slices.ContainsFunc(open, func(o journal.Ongoing) bool { return o.Event.Type == vms.TypeMotion })
	})
}

func (b *box) rests(n int) {
	b.eventually("motions that have ended", func() bool {
		page, err := b.agent.archive.Journal.List(vms.Query{PageSize: 1000, Types: []string{vms.TypeMotion}}, nil)
		require.NoError(b.t, err)
		ended := 0
		for _, ev := range page.Events {
			if !ev.Ongoing() {
				ended++
			}
		}
		return ended >= n
	})
}

func (b *box) isTrue() {
	ctx, cancel := context.WithTimeout(b.t.Context(), 30*time.Second)
	defer cancel()
	require.NoError(b.t, b.agent.clock.Wait(ctx))
}

// silent is that the service has heard nothing.
func (b *box) silent() {
	b.t.Helper()
	b.office.mu.Lock()
	defer b.office.mu.Unlock()
	require.Empty(b.t, b.office.events, "nothing with an untrue time leaves")
}

// told waits until the service has every event that has ended.
func (b *box) told(n int) {
	b.eventually("events at the service", func() bool {
		b.office.mu.Lock()
		defer b.office.mu.Unlock()
		ended := 0
		for _, ev := range b.office.events {
			if ev.Type == vms.TypeMotion && !ev.Ongoing() {
				ended++
			}
		}
		return ended >= n
	})
}

// goes makes the service refuse all, or no more.
func (o *office) goes(away bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.away = away
}

// verdict is what a box's records are worth.
type verdict struct{ still, event time.Duration }

// judge looks at all that the box has recorded, after it was stopped, and what the service has of
// it. calendar says what a true time is called, and whether it is one that no clock can show.
func (b *box) judge(calendar func(time.Time) (time.Time, bool), rough func(vms.Event) bool) (v verdict) {
	t := b.t
	if calendar == nil {
		calendar = func(t time.Time) (time.Time, bool) { return t, true }
	}
	j, err := journal.Open(filepath.Join(b.cfg.Bridge.Data, archive.JournalFile), journal.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, j.Close()) }()
	report, err := j.Check()
	require.NoError(t, err)
	require.True(t, report.Clean(), "%v", report.Problems)
	page, err := j.List(vms.Query{PageSize: 1000, Ascending: true}, nil)
	require.NoError(t, err)
	all := map[string]vms.Event{}
	for _, ev := range page.Events {
		all[ev.ID] = ev
		require.Equal(t, ev.NaturalID(), ev.ID)
		require.NotNil(t, ev.EndTimestamp, ev.ID)
		require.False(t, ev.EndTimestamp.Before(ev.StartTimestamp.Time), "%s ends before it starts", ev.ID)
	}
	b.office.mu.Lock()
	require.ElementsMatch(t, slices.Collect(maps.Keys(all)), slices.Collect(maps.Keys(b.office.events)),
		"every event once, under its right time")
	for id, ev := range b.office.events {
		require.Equal(t, all[id].EndTimestamp, ev.EndTimestamp, id)
	}
	b.office.mu.Unlock()

	r, err := stills.Open(filepath.Join(b.cfg.Bridge.Data, archive.StillsDir),
		stills.Options{MaxBytes: int64(b.cfg.Stills.MaxSize), SegmentBytes: int64(b.cfg.Stills.SegmentSize)})
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close()) }()
	var motions []vms.Event
	for _, ev := range page.Events {
		if ev.Type != vms.TypeMotion {
			continue
		}
		s, err := r.Before("gate", stills.Preview, ev.StartTimestamp.Add(500*time.Millisecond))
		require.NoError(t, err)
		require.WithinDuration(t, ev.StartTimestamp.Time, s.Time, 500*time.Millisecond,
			"the picture of a span is of its time")
		if rough != nil && rough(ev) || b.cut(ev, calendar) {
			continue
		}
		motions = append(motions, ev)
	}
	require.NotEmpty(t, motions)
	// On a busy machine the other bridge may be a few pictures behind.
	b.eventually(fmt.Sprintf("events within %v of those of the bridge whose clock was never wrong", exact),
		func() bool {
			v.event = b.w.offTruth(t, motions, calendar)
			return v.event <= exact
		})

	// Stills, against the witness.
	frames, more, err := r.Range("gate", stills.Preview, time.Unix(0, 0).AddDate(-100, 0, 0),
		time.Now().AddDate(100, 0, 0), 0)
	require.NoError(t, err)
	require.False(t, more)
	require.Greater(t, len(frames), 5)
	for i, f := range frames {
		require.WithinRange(t, f.Time, b.began[0].Add(-2*time.Second), b.ended[len(b.ended)-1].Add(time.Second))
		s, err := r.Find("gate", stills.Preview, stills.At, f.Time)
		require.NoError(t, err)
		if i > 0 {
			before, err := r.Before("gate", stills.Preview, f.Time)
			require.NoError(t, err)
			require.True(t, before.Time.Equal(frames[i-1].Time))
		}
		if !b.placed(f.Time) {
			continue
		}
		w := b.w.calendared(calendar)
		v.still = max(v.still, w.error(t, s.JPEG, s.Time).Abs())
	}
	check, err := stills.Check(filepath.Join(b.cfg.Bridge.Data, archive.StillsDir))
	require.NoError(t, err)
	require.True(t, check.Clean(), "%v", check.Problems)
	return v
}

// stepped looks at what the box has of a step of the time itself, which nothing can undo: the
// service has every event once, no span takes the step for motion, and each side of the step has
// its stills, at their times.
func (b *box) stepped(step time.Time, by time.Duration) {
	t := b.t
	j, err := journal.Open(filepath.Join(b.cfg.Bridge.Data, archive.JournalFile), journal.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, j.Close()) }()
	page, err := j.List(vms.Query{PageSize: 1000, Ascending: true}, nil)
	require.NoError(t, err)
	b.office.mu.Lock()
	defer b.office.mu.Unlock()
	require.Len(t, b.office.events, len(page.Events))
	before, after := 0, 0
	for _, ev := range page.Events {
		require.Equal(t, ev.EndTimestamp, b.office.events[ev.ID].EndTimestamp, ev.ID)
		require.NotNil(t, ev.EndTimestamp, ev.ID)
		long := ev.EndTimestamp.Sub(ev.StartTimestamp.Time)
		require.GreaterOrEqual(t, long, time.Duration(0), ev.ID)
		if ev.Type != vms.TypeMotion {
			continue
		}
		t.Logf("%s: %v", ev.ID, long)
		require.Less(t, long, time.Minute, "%s takes the step for motion", ev.ID)
		if ev.StartTimestamp.Sub(step).Abs() < by.Abs()/2 {
			before++
		} else {
			after++
		}
	}
	require.GreaterOrEqual(t, before, 1)
	require.GreaterOrEqual(t, after, 1, "the new time is gone by")
	r, err := stills.Open(filepath.Join(b.cfg.Bridge.Data, archive.StillsDir),
		stills.Options{MaxBytes: int64(b.cfg.Stills.MaxSize), SegmentBytes: int64(b.cfg.Stills.SegmentSize)})
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close()) }()
	for _, c := range []struct {
		side    time.Time
		earlier bool
	}{{step.Add(-time.Second), true}, {step.Add(by).Add(4 * time.Second), false}} {
		s, err := r.Before("gate", stills.Preview, c.side)
		require.NoError(t, err)
		require.WithinDuration(t, c.side, s.Time, 3*time.Second)
		called := func(at time.Time) (time.Time, bool) {
			if c.earlier {
				return at, true
			}
			return at.Add(by), true
		}
		require.LessOrEqual(t, b.w.calendared(called).error(t, s.JPEG, s.Time).Abs(), time.Second)
	}
}

// offTruth is how far motions are from those of the bridge whose clock was never wrong.
func (w *world) offTruth(t *testing.T, motions []vms.Event,
	calendar func(time.Time) (time.Time, bool)) (off time.Duration) {
	truth, err := w.control.agent.archive.Journal.List(vms.Query{PageSize: 1000, Types: []string{vms.TypeMotion}}, nil)
	require.NoError(t, err)
	var starts, ends []time.Time
	for _, ev := range truth.Events {
		at, ok := calendar(ev.StartTimestamp.Time)
		if starts = append(starts, at); ev.EndTimestamp != nil && ok {
			at, _ = calendar(ev.EndTimestamp.Time)
			ends = append(ends, at)
		}
	}
	for _, ev := range motions {
		off = max(off, nearest(starts, ev.StartTimestamp.Time).Abs(), nearest(ends, ev.EndTimestamp.Time).Abs())
	}
	return off
}

// calendared is the witness with its times as the calendar calls them.
func (w *world) calendared(calendar func(time.Time) (time.Time, bool)) *witness {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := &witness{seen: map[[32]byte][]time.Time{}}
	for sum, times := range w.seen {
		for _, at := range times {
			called, _ := calendar(at)
			out.seen[sum] = append(out.seen[sum], called)
		}
	}
	return out
}

// placed says whether a still stands at its exact time: those of a boot that ended before the clock
// was true are placed roughly. What comes within two seconds of a start is not looked at: on a
// machine that is busy with starting, the first pictures arrive late, and arrival is what the
// bridge goes by.
func (b *box) placed(at time.Time) bool {
	return at.After(b.began[b.rough]) &&
		!slices.ContainsFunc(b.began, func(began time.Time) bool { return at.Sub(began).Abs() < 2*time.Second })
}

// cut says whether the box may have seen only a part of a motion: it had just started, or was
// stopped.
func (b *box) cut(ev vms.Event, calendar func(time.Time) (time.Time, bool)) bool {
	for _, at := range b.began {
		if d := ev.StartTimestamp.Sub(at); d < 3*time.Second && ev.EndTimestamp.Sub(at) > -time.Second {
			return true
		}
	}
	for _, at := range b.ended {
		called, _ := calendar(at)
		if d := called.Sub(ev.EndTimestamp.Time).Abs(); d < time.Second {
			return true
		}
	}
	_, ok := calendar(ev.StartTimestamp.Time)
	return !ok
}

// require that both are exact, and say how exact.
func (v verdict) within(t *testing.T) {
	t.Helper()
	t.Logf("worst error: stills %d ms, events %d ms", v.still.Milliseconds(), v.event.Milliseconds())
	require.LessOrEqual(t, v.still, exact)
	require.LessOrEqual(t, v.event, exact)
}
