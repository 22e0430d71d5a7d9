package codec

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"vmsbridge/agent/codec/testclip"
	"vmsbridge/scripts/harness"
)

// world runs the bookkeeping through time: each camera costs so much of a processor, as far as it
// is wanted.
type world struct {
	*shares
	now  time.Time
	done map[string]time.Duration
}

const tick = 100 * time.Millisecond

// run lets time pass. use is by camera; every tenth access unit is a keyframe.
func (w *world) run(d time.Duration, use map[string]float64) {
	for range int(d / tick) {
		w.now = w.now.Add(tick)
		for camera, u := range use {
			keyframe := w.now.UnixMilli()/tick.Milliseconds()%10 == 0
			if !w.wants(camera, keyframe, w.now) {
				continue
			}
			cost := time.Duration(u * float64(tick))
			w.done[camera] += cost
			w.charge(camera, cost, w.now, func(yield func(string) bool) {
				for other, o := range w.owners {
					if o.stage == Shared && !yield(other) {
						return
					}
				}
			})
		}
	}
}

func TestShares(t *testing.T) {
	for name, c := range map[string]struct {
		processors int
		use        map[string]float64
		want       map[string]Stage // after a minute; the others are Shared
	}{
		"light cameras":                {2, map[string]float64{"a": 0.1, "b": 0.1, "c": 0.2, "d": 0.2}, nil},
		"one camera fills a processor": {2, map[string]float64{"a": 1}, map[string]Stage{"a": Alone}},
		"and others are there": {2, map[string]float64{"a": 0.95, "b": 0.05, "c": 0.05},
			map[string]Stage{"a": KeyframesOnly}},
		"heavy, with room": {4, map[string]float64{"a": 0.5, "b": 0.05, "c": 0.05}, map[string]Stage{"a": Alone}},
		"too many heavy ones": {2, map[string]float64{"a": 0.6, "b": 0.6, "c": 0.6, "d": 0.05},
			map[string]Stage{"a": KeyframesOnly, "b": KeyframesOnly, "c": KeyframesOnly}},
		"a full process": {4, map[string]float64{"a": 0.24, "b": 0.23, "c": 0.22, "d": 0.2},
			map[string]Stage{"a": Alone}},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{shares: newShares(c.processors, 4), now: time.Unix(1e9, 0), done: map[string]time.Duration{}}
			w.run(time.Minute, c.use)
			for camera := range c.use {
				require.Equal(t, c.want[camera], w.owners[camera].stage, "%s uses %.2f", camera, w.owners[camera].use)
			}
		})
	}
}

// Nobody waits for a camera that has its process to itself, by chance: half a processor is no
// reason.
func TestNoCompanyNoHarm(t *testing.T) {
	s := newShares(2, 4)
	now := time.Unix(1e9, 0)
	charge := func(crowd ...string) {
		for range 3 * int(windowTime/tick) {
			now = now.Add(tick)
			s.charge("a", tick/2, now, slices.Values(crowd))
		}
	}
	charge("a")
	require.Equal(t, Shared, s.owners["a"].stage)
	charge("a", "b")
	require.Equal(t, Alone, s.owners["a"].stage)
}

// A stream of keyframes alone is held to its share, too; and who behaves for some minutes is
// forgiven, the second time later.
func TestSharesHoldAndForgive(t *testing.T) {
	w := &world{shares: newShares(2, 4), now: time.Unix(1e9, 0), done: map[string]time.Duration{}}
	hog := map[string]float64{"good": 0.05, "hog": 1}
	w.run(time.Minute, hog)
	require.Equal(t, KeyframesOnly, w.owners["hog"].stage)
	// All its access units are keyframes now, of 100 ms each.
	before := w.done["hog"]
	for range 600 {
		w.now = w.now.Add(tick)
		if w.wants("hog", true, w.now) {
			w.done["hog"] += tick
			w.charge("hog", tick, w.now, func(func(string) bool) {})
		}
	}
	budget := w.owners["hog"].budget
	require.InDelta(t, budget*60, (w.done["hog"] - before).Seconds(), 2, "a minute's share")
	require.Less(t, budget, 0.6)
	require.True(t, w.wants("good", false, w.now), "others are not concerned")

	light := map[string]float64{"good": 0.05, "hog": 0.05}
	w.run(calmTime+time.Minute, light)
	require.Equal(t, Alone, w.owners["hog"].stage)
	w.run(2*calmTime+time.Minute, light)
	require.Equal(t, Shared, w.owners["hog"].stage)
	w.run(time.Minute, hog)
	require.Equal(t, KeyframesOnly, w.owners["hog"].stage)
	w.run(2*calmTime, light)
	require.Equal(t, KeyframesOnly, w.owners["hog"].stage, "it is believed later")
	w.run(longestRest, light)
	require.NotEqual(t, KeyframesOnly, w.owners["hog"].stage)
}

// A single picture that takes a second is reason enough.
func TestOneLongCall(t *testing.T) {
	s := newShares(2, 4)
	now := time.Unix(1e9, 0)
	require.False(t, s.charge("a", longCall, now, func(func(string) bool) {}))
	require.True(t, s.charge("a", longCall+1, now, func(func(string) bool) {}))
	require.Equal(t, Alone, s.owners["a"].stage)
}

// A camera whose pictures take long to decode costs its neighbours not one: it moves to a process
// of its own, which yields to the others, and then is decoded by its keyframes only, no more than
// its share. With a light stream it comes back.
func TestHogCostsOthersNothing(t *testing.T) {
	p := newPool(t, Options{PerProcess: 4})
	// A machine so small that a busy one, too, shows it to be full.
	p.shares.window, p.shares.processors = 500*time.Millisecond, 0.4
	good := testclip.Make(t, testclip.Spec{Codec: "mjpeg", Width: 64, Height: 64, Frames: 1}).Units[0]
	hog := p.Open("hog", MJPEG, 100)
	cameras := []*Decoder{p.Open("good0", MJPEG, 100), p.Open("good1", MJPEG, 100)}
	others := func() {
		for _, d := range cameras {
			require.True(t, d.Wants(false))
			_, err := d.Decode(t.Context(), good, 1)
			require.NoError(t, err, "they lose nothing")
		}
	}
	others()
	_, err := hog.Decode(t.Context(), good, 1)
	require.NoError(t, err)
	require.True(t, sameGroup(hog, cameras[0]))
	first := pidOf(t, cameras[0])

	stage := func() Stage {
		l, ok := p.Load("hog")
		require.True(t, ok)
		return l.Stage
	}
	burn := func(keyframe bool) {
		others()
		if hog.Wants(keyframe) {
			_, err := hog.Decode(t.Context(), burnUnit, 1)
			require.Error(t, err)
			require.NotErrorIs(t, err, ErrLost)
		}
	}
	harness.Until(t, "it gets a process of its own", func() bool { burn(true); return stage() >= Alone })
	burn(true)
	require.False(t, sameGroup(hog, cameras[0]))
	require.True(t, sameGroup(cameras[1], cameras[0]))
	require.Equal(t, first, pidOf(t, cameras[0]), "the others keep theirs")
	nice, err := unix.Getpriority(unix.PRIO_PROCESS, pidOf(t, hog))
	require.NoError(t, err)
	require.Equal(t, 20-yieldBy, nice, "as the kernel answers it")

	harness.Until(t, "it still takes all it gets", func() bool { burn(true); return stage() == KeyframesOnly })
	harness.Until(t, "its share is used up", func() bool { burn(true); return !hog.Wants(true) })
	require.False(t, hog.Wants(false))
	require.EqualValues(t, 2, testutil.ToFloat64(p.metrics.stage.WithLabelValues("hog")))
	require.Greater(t, testutil.ToFloat64(p.metrics.spent.WithLabelValues("hog")), burnTime.Seconds())
	p.mu.Lock()
	p.shares.owners["hog"].rest = time.Millisecond
	p.shares.owners["hog"].calm = time.Now()
	p.mu.Unlock()
	light := func() bool {
		others()
		if hog.Wants(true) {
			_, err := hog.Decode(t.Context(), good, 2)
			require.NoError(t, err)
			_, err = hog.Still(t.Context(), 2, 0, 80)
			require.NoError(t, err, "what was just decoded is there")
		}
		return stage() == Shared
	}
	harness.Until(t, "it is forgiven", light)
	light()
	require.True(t, sameGroup(hog, cameras[0]))
	p.Forget("hog")
	_, known := p.Load("hog")
	require.False(t, known)
}

// The processor time of a process is its own, whoever asks.
func TestSpent(t *testing.T) {
	p := newPool(t, Options{})
	d := p.Open("a", MJPEG, 100)
	_, err := d.Decode(t.Context(), []byte("no JPEG"), 1)
	require.Error(t, err)
	spent := func() time.Duration {
		p.mu.Lock()
		defer p.mu.Unlock()
		return d.group.proc.Load().spent()
	}
	before := spent()
	require.Positive(t, before)
	_, _ = d.Decode(t.Context(), burnUnit, 1)
	require.Greater(t, spent()-before, burnTime/20)
}

// Where nothing is said, four cameras share a process, and more where each processor has one and
// there is time left in it.
func TestPlaces(t *testing.T) {
	sizes := func(o Options, cameras int, busy bool) (all []int) {
		p := newPool(t, o)
		p.shares.processors = 2
		for i := range cameras {
			_, err := p.groupOf(p.Open(fmt.Sprint(i), MJPEG, 0))
			require.NoError(t, err)
			if busy {
				p.shares.of(fmt.Sprint(i), time.Now()).use = 0.15
			}
		}
		for _, g := range p.groups {
			all = append(all, len(g.members))
		}
		return all
	}
	require.Equal(t, []int{4, 2}, sizes(Options{}, 6, false))
	require.Equal(t, []int{6, 5}, sizes(Options{}, 11, false))
	require.Equal(t, []int{12, 12, 6}, sizes(Options{}, 30, false))
	require.Equal(t, []int{4, 4, 3}, sizes(Options{}, 11, true), "four of them take 0.6 of a processor")
	require.Equal(t, []int{3, 3, 3, 2}, sizes(Options{PerProcess: 3}, 11, false), "as was said")
}
