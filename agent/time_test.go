package agent

import (
	"context"
	"crypto/sha256"
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

	"vmsbridge/agent/camera"
	"vmsbridge/agent/clock"
	"vmsbridge/agent/codec"
	"vmsbridge/cmd/camsim/serve"
	"vmsbridge/configs"
	"vmsbridge/storage/journal"
	"vmsbridge/storage/stills"
	"vmsbridge/uplink/vms"
)

// What every record must end within of the truth.
const exact = 100 * time.Millisecond

// quartz is a machine whose clocks the test sets. The truth is that of the machine on which the test runs.
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
	s, err := camera.New(camera.Config{URL: c.URL, Username: c.Username, Password: c.Password.Reveal(), Transport: camera.TransportTCP},
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

func newWorld(t *testing.T, faults ...serve.Fault) *world {
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
	a, err := New(b.cfg, Options{Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Version: "1", Machine: b.m, settle: 500 * time.Millisecond})
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
		open, err := b.agent.journal.Unfinished()
		require.NoError(b.t, err)
		return slices.ContainsFunc(open, func(o journal.Ongoing) bool { return o.Event.Type == vms.TypeMotion })
	})
}

func (b *box) rests(n int) {
	b.eventually("motions that have ended", func() bool {
		page, err := b.agent.journal.List(vms.Query{PageSize: 1000, Types: []string{vms.TypeMotion}}, nil)
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

// verdict is what a box's records are worth.
type verdict struct{ still, event time.Duration }

// judge looks at all that the box has recorded, after it was stopped, and what the service has of it. calendar says what a true time
// is called, and whether it is one that no clock can show.
func (b *box) judge(calendar func(time.Time) (time.Time, bool), rough func(vms.Event) bool) (v verdict) {
	t := b.t
	if calendar == nil {
		calendar = func(t time.Time) (time.Time, bool) { return t, true }
	}
	j, err := journal.Open(filepath.Join(b.cfg.Bridge.Data, JournalFile), journal.Options{})
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
	require.ElementsMatch(t, slices.Collect(maps.Keys(all)), slices.Collect(maps.Keys(b.office.events)), "every event once, under its right time")
	for id, ev := range b.office.events {
		require.Equal(t, all[id].EndTimestamp, ev.EndTimestamp, id)
	}
	b.office.mu.Unlock()

	// Motion, against the bridge whose clock was never wrong.
	truth, err := b.w.control.agent.journal.List(vms.Query{PageSize: 1000, Types: []string{vms.TypeMotion}}, nil)
	require.NoError(t, err)
	var starts, ends []time.Time
	for _, ev := range truth.Events {
		at, ok := calendar(ev.StartTimestamp.Time)
		if starts = append(starts, at); ev.EndTimestamp != nil && ok {
			at, _ = calendar(ev.EndTimestamp.Time)
			ends = append(ends, at)
		}
	}
	r, err := stills.Open(filepath.Join(b.cfg.Bridge.Data, StillsDir), stills.Options{MaxBytes: int64(b.cfg.Stills.MaxSize), SegmentBytes: int64(b.cfg.Stills.SegmentSize)})
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close()) }()
	motions := 0
	for _, ev := range page.Events {
		if ev.Type != vms.TypeMotion {
			continue
		}
		s, err := r.Before("gate", stills.Preview, ev.StartTimestamp.Add(500*time.Millisecond))
		require.NoError(t, err)
		require.WithinDuration(t, ev.StartTimestamp.Time, s.Time, 500*time.Millisecond, "the picture of a span is of its time")
		if rough != nil && rough(ev) || b.cut(ev, calendar) {
			continue
		}
		motions++
		v.event = max(v.event, nearest(starts, ev.StartTimestamp.Time).Abs(), nearest(ends, ev.EndTimestamp.Time).Abs())
	}
	require.NotZero(t, motions)

	// Stills, against the witness.
	frames, more, err := r.Range("gate", stills.Preview, time.Unix(0, 0).AddDate(-100, 0, 0), time.Now().AddDate(100, 0, 0), 0)
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
	check, err := stills.Check(filepath.Join(b.cfg.Bridge.Data, StillsDir))
	require.NoError(t, err)
	require.True(t, check.Clean(), "%v", check.Problems)
	return v
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

// placed says whether a still stands at its exact time: those of a boot that ended before the clock was true are placed roughly. What comes
// within two seconds of a start is not looked at: on a machine that is busy with starting, the first pictures arrive late, and arrival
// is what the bridge goes by.
func (b *box) placed(at time.Time) bool {
	return at.After(b.began[b.rough]) && !slices.ContainsFunc(b.began, func(began time.Time) bool { return at.Sub(began).Abs() < 2*time.Second })
}

// cut says whether the box may have seen only a part of a motion: it had just started, or was stopped.
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

var long1970 = -time.Since(time.Unix(100, 0))

// Every way in which a machine's clock is wrong and becomes right, through the whole bridge: real cameras, real decoders, real stores,
// a real service. The bridges run side by side.
func TestEveryRecordGetsItsRightTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	untrueFirst := func(wrong time.Duration, set func(*quartz)) func(*testing.T) {
		return func(t *testing.T) {
			t.Parallel()
			b := w.box(t, &quartz{id: "a", booted: time.Now(), wrong: wrong})
			stop := b.start()
			b.rests(1)
			b.moves()
			b.silent()
			require.NotEmpty(t, b.agent.clock.Problem())
			set(b.m) // in the midst of a span
			b.isTrue()
			b.rests(2)
			b.told(2)
			stop()
			b.judge(nil, nil).within(t)
		}
	}
	sync := func(q *quartz) { q.set(0, true) }
	hour := time.Hour
	t.Run("boot in 1970, then NTP", untrueFirst(long1970, sync))
	t.Run("boot three days ago, then NTP", untrueFirst(-72*hour, sync))
	t.Run("boot three days ago, then set by hand", untrueFirst(-72*hour, func(q *quartz) { q.set(0, false) }))
	t.Run("an hour late, then a step forward", untrueFirst(-hour, sync))
	t.Run("an hour early, then a step back", untrueFirst(hour, sync))
	for name, by := range map[string]time.Duration{"true, an hour forward and back": hour, "true, an hour back and forward": -hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := w.box(t, &quartz{id: "a", booted: time.Now(), synced: true})
			stop := b.start()
			b.moves()
			b.m.set(by, false)
			b.rests(1)
			b.moves()
			b.m.set(0, true)
			b.rests(2)
			b.told(2)
			stop()
			b.judge(nil, nil).within(t)
		})
	}
	t.Run("a quartz that is 0.8 % off", func(t *testing.T) { // 200 ppm over 40 times as long
		t.Parallel()
		b := w.box(t, &quartz{id: "a", booted: time.Now(), synced: true, drift: 0.008})
		stop := b.start()
		b.rests(2)
		b.told(2)
		stop()
		b.judge(nil, nil).within(t)
	})
	t.Run("a leap second", func(t *testing.T) {
		t.Parallel()
		b := w.box(t, &quartz{id: "a", booted: time.Now(), synced: true})
		stop := b.start()
		b.moves()
		leap := time.Now()
		b.m.set(-time.Second, true) // Linux says 23:59:59 once more
		b.rests(2)
		b.told(2)
		stop()
		b.judge(func(at time.Time) (time.Time, bool) {
			switch {
			case at.Before(leap):
				return at, true
			case at.Before(leap.Add(time.Second)):
				return leap, false // 23:59:60, which no clock of ours can show
			}
			return at.Add(-time.Second), true
		}, nil).within(t)
	})
	t.Run("two runs in a boot, then NTP", func(t *testing.T) {
		t.Parallel()
		b := w.box(t, &quartz{id: "a", booted: time.Now(), wrong: -72 * hour})
		stop := b.start()
		b.moves()
		stop()
		b.silent()
		stop = b.start()
		b.rests(2) // the first run's among them
		b.silent()
		b.m.set(0, true)
		b.isTrue()
		b.rests(3)
		b.told(3)
		require.Zero(t, b.agent.clock.State().Unplaced)
		stop()
		b.judge(nil, nil).within(t)
	})
	t.Run("two boots, then NTP", func(t *testing.T) {
		t.Parallel()
		b := w.box(t, &quartz{})
		b.m.reboot("a", time.Unix(100, 0))
		stop := b.start()
		b.moves()
		stop()
		b.silent()
		b.rough = 1
		b.m.reboot("b", time.Unix(100, 0))
		stop = b.start()
		b.rests(2) // the first boot's among them
		b.silent()
		b.m.set(0, true)
		b.isTrue()
		require.NotZero(t, b.agent.clock.State().Unplaced)
		b.moves()
		b.rests(3)
		b.told(3)
		stop()
		uncertain := 0
		v := b.judge(nil, func(ev vms.Event) bool {
			var d struct {
				Time *struct{ Certain bool }
			}
			for _, item := range ev.Data {
				if item.Type == vms.SchemaCreatorDetails {
					require.NoError(t, item.Into(&d))
				}
			}
			if d.Time == nil {
				return false
			}
			uncertain++
			require.False(t, d.Time.Certain)
			late := ev.EndTimestamp.Sub(b.ended[0])
			require.Less(t, late, b.began[1].Sub(b.ended[0])+exact, "no later than the next boot")
			t.Logf("of the first boot: %s", ev.ID)
			return true
		})
		require.NotZero(t, uncertain)
		v.within(t)
	})
}

// A camera's own clock is 4800 ppm slow, in seconds what others are in hours. Its pictures' times follow their arrival: beside a camera
// that shows the same at the right pace, the difference stays.
func TestACamerasClockDrifts(t *testing.T) {
	t.Parallel()
	right := newWorld(t)
	slow := newWorld(t, serve.Fault{Name: "drift", N: 4800})
	b := slow.box(t, &quartz{id: "a", booted: time.Now(), synced: true})
	stop := b.start()
	b.rests(3)
	stop()
	r, err := stills.Open(filepath.Join(b.cfg.Bridge.Data, StillsDir), stills.Options{MaxBytes: int64(b.cfg.Stills.MaxSize), SegmentBytes: int64(b.cfg.Stills.SegmentSize)})
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close()) }()
	frames, _, err := r.Range("gate", stills.Preview, b.began[0].Add(2*time.Second), time.Now(), 0)
	require.NoError(t, err)
	var ahead []time.Duration // of what the other camera showed at the same point of its loop
	for _, f := range frames {
		s, err := r.Find("gate", stills.Preview, stills.At, f.Time)
		require.NoError(t, err)
		ahead = append(ahead, right.error(t, s.JPEG, s.Time))
	}
	require.Greater(t, len(ahead), 12)
	middle := func(list []time.Duration) time.Duration { return slices.Sorted(slices.Values(list))[len(list)/2] }
	grown := middle(ahead[len(ahead)-5:]) - middle(ahead[:5])
	passed := frames[len(frames)-3].Time.Sub(frames[2].Time)
	t.Logf("worst error: %d ms in %s; %d ms by the camera's clock alone", grown.Abs().Milliseconds(), passed.Round(time.Second), (passed * 48 / 10000).Milliseconds())
	require.Greater(t, passed, 14*time.Second)
	require.LessOrEqual(t, grown.Abs(), 60*time.Millisecond)
}
