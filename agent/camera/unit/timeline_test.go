package unit

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

const at0 = int64(1_800_000_000) * int64(time.Second) // an arbitrary moment, in ns

func ms(v float64) int64 { return int64(v * 1e6) }

// tickAt is the RTP time of a moment after at0, from an arbitrary start near the wrap-around.
func tickAt(t int64) uint32 { return uint32(4_294_900_000 + t*9/100000) }

// run places pictures taken at the given ms, arriving that much later, and returns the errors in
// ms: placed minus arrival of the promptest.
func placeAll(tl *Timeline, taken, delay []float64, reorder bool) []float64 {
	out := make([]float64, len(taken))
	for i := range taken {
		got := tl.Place(tickAt(ms(taken[i])), at0+ms(taken[i]+delay[i]), reorder, Steady)
		out[i] = float64(got-at0)/1e6 - taken[i]
	}
	return out
}

func steady(n int, interval float64) (taken, delay []float64) {
	for i := range n {
		taken = append(taken, float64(i)*interval)
		delay = append(delay, 20)
	}
	return taken, delay
}

func TestTimelineSteady(t *testing.T) {
	taken, delay := steady(1000, 66.67)
	tl := NewTimeline(0)
	for i, e := range placeAll(tl, taken, delay, false) {
		require.InDelta(t, 20, e, 0.02, "picture %d", i)
	}
	require.Zero(t, tl.clamped)
}

// Jitter of the network, late packets and a stall do not move the times.
func TestTimelineJitterAndStall(t *testing.T) {
	taken, delay := steady(600, 100)
	for i := range delay {
		delay[i] += float64(i * 7919 % 60)
		if i >= 300 && i < 340 { // 4 s stall, then everything at once
			delay[i] = taken[340] - taken[i]
		}
	}
	tl := NewTimeline(0)
	for i, e := range placeAll(tl, taken, delay, false)[60:] {
		require.InDelta(t, 20, e, 12, "picture %d", i+60)
	}
	require.Zero(t, tl.reanchored)
}

// A camera that first sends what it kept of the last two seconds: its first picture is old, and
// must not make all others so.
func TestTimelineBurstAtStart(t *testing.T) {
	taken, delay := steady(200, 100)
	for i := range 20 {
		delay[i] = taken[20] - taken[i] + 20
	}
	tl := NewTimeline(0)
	for i, e := range placeAll(tl, taken, delay, false)[25:] {
		require.InDelta(t, 20, e, 6, "picture %d", i+25)
	}
}

// A camera's clock that runs 1000 ppm fast or slow is followed, without a jump.
func TestTimelineDrift(t *testing.T) {
	for _, rate := range []float64{0.999, 1.001} {
		tl := NewTimeline(0)
		last := int64(0)
		for i := range 36000 { // an hour
			real := at0 + int64(i)*ms(100)
			got := tl.Place(uint32(float64(i)*9000*rate), real, false, Steady)
			require.InDelta(t, 0, float64(got-real)/1e6, 30, "picture %d at rate %g", i, rate)
			require.Greater(t, got, last)
			last = got
		}
		require.Zero(t, tl.reanchored)
	}
}

func TestTimelineBFrames(t *testing.T) {
	tl := NewTimeline(0)
	order := []int{0, 3, 1, 2, 6, 4, 5, 9, 7, 8}
	for round := range 30 {
		for i, o := range order {
			shown, sent := float64(round*10+o)*100, float64(round*10+i)*100+200
			got := tl.Place(tickAt(ms(shown)), at0+ms(sent), true, Steady)
			if round > 0 {
				require.InDelta(t, shown, float64(got-at0)/1e6, 201)
			}
		}
	}
	require.Zero(t, tl.reanchored)
}

func TestTimelineJumps(t *testing.T) {
	for name, jump := range map[string]int64{"hour forward": 3600, "hour back": -3600, "two seconds forward": 2,
		"two seconds back": -2} {
		t.Run(name, func(t *testing.T) {
			tl := NewTimeline(0)
			last := int64(0)
			for i := range 200 {
				taken := int64(i) * ms(100)
				rtp := tickAt(taken)
				if i >= 100 {
					rtp += uint32(jump * TickRate)
				}
				got := tl.Place(rtp, at0+taken+ms(20), false, Steady)
				require.InDelta(t, 20, float64(got-at0-taken)/1e6, 1, "picture %d", i)
				require.Greater(t, got, last)
				last = got
			}
			require.Equal(t, uint64(1), tl.reanchored)
			require.Equal(t, uint64(1), tl.clamped)
		})
	}
}

// RTP time that falls back for good (a pause in the camera that it did not count) is noticed after
// two seconds.
func TestTimelineLateForGood(t *testing.T) {
	taken, delay := steady(200, 100)
	for i := 100; i < 200; i++ {
		delay[i] += 5000
	}
	tl := NewTimeline(0)
	e := placeAll(tl, taken, delay, false)
	require.InDelta(t, 5020, e[125], 1)
	require.InDelta(t, 5020, e[199], 1)
}

// RTP time that jumps again and again is not believed any more.
func TestTimelineGivesUpOnLiar(t *testing.T) {
	tl := NewTimeline(0)
	for i := range 100 {
		arrival := at0 + int64(i)*ms(100)
		got := tl.Place(uint32(i)*2654435761, arrival, false, Steady)
		require.InDelta(t, 0, float64(got-arrival)/1e6, 2)
	}
	require.True(t, tl.byArrival)
}

func TestTimelineClockSetForward(t *testing.T) {
	tl := NewTimeline(0)
	year := int64(365 * 24 * time.Hour)
	for i := range 20 {
		arrival, step := at0+int64(i)*ms(100), Steady
		if i >= 10 {
			arrival += 50 * year
		}
		if i == 10 {
			step = SetForward
		}
		got := tl.Place(tickAt(int64(i)*ms(100)), arrival, false, step)
		require.InDelta(t, 0, float64(got-arrival)/1e6, 1)
	}
}

func TestTimelineContinuesAfterFloor(t *testing.T) {
	tl := NewTimeline(at0 + ms(500)) // the last session's newest picture is in the future of this one's arrival
	got := tl.Place(5, at0, false, Steady)
	require.Greater(t, got, at0+ms(500))
}

// requireOrdered checks the promise of AccessUnit.Time against everything placed since the last era
// began.
func requireOrdered(t require.TestingT, tl *Timeline) {
	for i := 1; i < len(tl.history); i++ {
		require.Less(t, tl.history[i-1].at, tl.history[i].at)
		require.LessOrEqual(t, tl.history[i-1].tick, tl.history[i].tick)
	}
}

// Whatever comes, no two pictures share a time, none is far in the future, and in presentation
// order times increase.
func TestTimelineProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tl := NewTimeline(at0 - int64(time.Second))
		arrival := at0
		rtp := rapid.Uint32().Draw(t, "start")
		seen := map[int64]bool{}
		reorder := rapid.Bool().Draw(t, "reorder")
		for range rapid.IntRange(1, 300).Draw(t, "n") {
			arrival += rapid.OneOf(rapid.Int64Range(0, ms(50)), rapid.Int64Range(0, ms(20000))).Draw(t, "gap")
			rtp += rapid.OneOf(rapid.Just(uint32(3000)), rapid.Uint32Range(0, 20000), rapid.Uint32(),
				rapid.Just(^uint32(2999))).Draw(t, "delta")
			step := rapid.SampledFrom([]Step{Steady, Steady, Steady, Steady, SetForward}).Draw(t, "step")
			got := tl.Place(rtp, arrival, reorder, step)
			require.False(t, seen[got], "time twice")
			require.Zero(t, got%1000)
			require.Greater(t, got, at0-int64(time.Second))
			require.Less(t, got, arrival+int64(2*time.Second))
			seen[got] = true
			requireOrdered(t, tl)
		}
	})
}

func FuzzTimeline(f *testing.F) {
	f.Add([]byte{0, 0, 11, 184, 10, 0, 0, 11, 184, 10})
	f.Add([]byte{255, 255, 255, 255, 0, 0, 0, 0, 0, 255, 128, 0, 0, 0, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		tl := NewTimeline(0)
		arrival := at0
		seen := map[int64]bool{}
		data = data[:min(len(data), 2000)]
		for ; len(data) >= 5; data = data[5:] {
			rtp := uint32(data[0])<<24 | uint32(data[1])<<16 | uint32(data[2])<<8 | uint32(data[3])
			arrival += int64(data[4]) * ms(7)
			got := tl.Place(rtp, arrival, data[4]&1 == 0, Steady)
			require.False(t, seen[got])
			seen[got] = true
			requireOrdered(t, tl)
		}
	})
}

func TestWallClock(t *testing.T) {
	var wall time.Time
	var mono time.Duration
	c := &Clock{read: func() (time.Time, time.Duration) { return wall, mono }}
	start := time.Date(1970, 1, 1, 0, 1, 0, 0, time.UTC)
	wall = start
	now, step := c.Now()
	require.Equal(t, start.UnixNano(), now)
	require.Equal(t, Steady, step)

	tick := func(by, set time.Duration) (time.Duration, Step) {
		wall, mono = wall.Add(by+set), mono+by
		before := now
		now, step = c.Now()
		return time.Duration(now - before), step
	}
	// adjusted a little: followed at 5 %
	d, step := tick(time.Second, 100*time.Millisecond)
	require.Equal(t, 1050*time.Millisecond, d)
	require.Equal(t, Steady, step)
	d, _ = tick(time.Second, -100*time.Millisecond)
	require.InDelta(t, time.Second, d, 5e7+1)
	// the clock becomes true: followed at once
	d, step = tick(time.Second, 50*365*24*time.Hour)
	require.Equal(t, SetForward, step)
	require.Greater(t, d, 49*365*24*time.Hour)
	// set back by seconds: runs slow, never back
	for range 100 {
		d, step = tick(100*time.Millisecond, 0)
		require.GreaterOrEqual(t, d, 95*time.Millisecond)
		require.Equal(t, Steady, step)
	}
	_, step = tick(100*time.Millisecond, -5*time.Second)
	require.Equal(t, Steady, step)
	for range 200 {
		d, _ = tick(time.Second, 0)
		require.GreaterOrEqual(t, d, 950*time.Millisecond)
	}
	require.Equal(t, wall.UnixNano(), now, "agrees again")
	// set back by hours: followed, and said
	d, step = tick(time.Second, -2*time.Hour)
	require.Equal(t, SetBack, step)
	require.Negative(t, d)
}
