package stills

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// ageing is a ring with a MaxAge of two days and a clock that the test moves; tick is what the
// flusher does.
func ageing(t *testing.T, dir string, h *hand) (r *Ring, tick func()) {
	opts := small
	opts.MaxAge, opts.Clock = 2*day, h.clock
	r = open(t, dir, opts)
	return r, func() {
		r.appendMu.Lock()
		defer r.appendMu.Unlock()
		r.expire()
	}
}

func TestMaxAge(t *testing.T) {
	h := &hand{wall: epoch}
	r, tick := ageing(t, memDir(t), h)
	tick()
	for i := range 5 * 24 {
		require.NoError(t, r.Append(still("cam", Preview, time.Duration(i)*time.Hour, 100)))
		h.pass(time.Hour)
		tick()
	}
	// A segment is written for half a day, and goes two days after that.
	_, err := r.Before("cam", Preview, epoch.Add(2*day))
	require.Equal(t, ReasonPruned, reason(t, err))
	require.ErrorContains(t, err, "for its age")
	for i := 3 * 24; i < 5*24; i++ {
		s := still("cam", Preview, time.Duration(i)*time.Hour, 100)
		requireStill(t, r, s, At, s.Time)
	}
	require.NotZero(t, r.Stats().ExpiredSegments)
	require.Equal(t, r.Stats().DroppedSegments, r.Stats().ExpiredSegments)
	// The last ones go too when nothing is stored any more.
	for range 4 * 24 {
		h.pass(time.Hour)
		tick()
	}
	require.Zero(t, r.Stats().Stills)
	require.Zero(t, r.Stats().Segments)
}

// TestClockStepsExpireNothing steps the clock a thousand times, by up to fifty years to either
// side, with restarts: no still of the last two days goes, and when the clock is right again, the
// older ones do.
func TestClockStepsExpireNothing(t *testing.T) {
	h := &hand{wall: epoch}
	dir := memDir(t)
	opts := small
	opts.MaxAge, opts.Clock = 2*day, h.clock
	r, err := Open(dir, opts)
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close()) }()
	tick := func() {
		r.appendMu.Lock()
		defer r.appendMu.Unlock()
		r.expire()
	}
	rng := rand.New(rand.NewPCG(3, 3))
	var list []Still
	for i := range 1000 {
		h.mu.Lock()
		h.up += time.Minute
		h.wall = epoch.Add(h.up + time.Duration(rng.IntN(36500)-18250)*day)
		h.mu.Unlock()
		s := Still{"cam", Preview, h.wall, picture(uint64(i), 100+i%500)} // the camera's times step with the clock
		list = append(list, s)
		require.NoError(t, r.Append(s))
		tick()
		if i%100 == 50 {
			require.NoError(t, r.Close())
			r, err = Open(dir, opts)
			require.NoError(t, err)
		}
	}
	require.Zero(t, r.Stats().ExpiredSegments)
	look := func() {
		for _, s := range list {
			requireStill(t, r, s, AtOrBefore, s.Time)
			requireStill(t, r, s, AtOrAfter, s.Time)
		}
	}
	look()
	// The clock is right from here on.
	h.mu.Lock()
	h.wall = epoch.Add(h.up)
	h.mu.Unlock()
	for range 59 {
		h.pass(time.Minute)
		tick()
	}
	look()
	h.pass(4 * day)
	tick() // all but those of the segment that is full only now
	require.NotZero(t, r.Stats().ExpiredSegments)
	h.pass(3 * day)
	tick()
	require.Zero(t, r.Stats().Stills)
}

func TestAge(t *testing.T) {
	for name, c := range map[string]struct {
		seg  member
		want time.Duration
	}{
		"filled by this process": {member{sealedAt: 1, sealedUp: time.Hour}, 9 * time.Hour},
		"by an earlier one":      {member{sealedAt: epoch.Add(-day).UnixNano()}, day},
		"in the future":          {member{sealedAt: epoch.Add(day).UnixNano()}, 0},
		"not known":              {member{}, 0},
	} {
		require.Equal(t, c.want, c.seg.age(epoch, 10*time.Hour), name)
	}
}

// TestWritten compares the counter with what was stored, and looks whether it goes on after a
// restart.
func TestWritten(t *testing.T) {
	h := &hand{wall: epoch}
	dir := memDir(t)
	opts := small
	opts.Clock, opts.Endurance = h.clock, 3000<<20
	r, err := Open(dir, opts)
	require.NoError(t, err)
	const n, size = 100, 15000
	for i := range n {
		require.NoError(t, r.Append(still("cam", Preview, time.Duration(i)*time.Second, size)))
	}
	require.NoError(t, r.Flush())
	h.pass(time.Hour)
	s := r.Stats()
	require.Greater(t, s.WrittenBytes, int64(n*size))
	require.Less(t, s.WrittenBytes, int64(n*size*115/100), "in segments so small that their ends count")
	require.Equal(t, 24*s.WrittenBytes, s.WrittenPerDay)
	require.Equal(t, time.Duration(3000<<20/s.WrittenPerDay)*day, s.DeviceLifetime.Truncate(day))
	require.NoError(t, r.Close())
	r = open(t, dir, opts)
	require.Greater(t, r.Stats().WrittenBytes, s.WrittenBytes*3/4,
		"what was not yet on its way when the last segment was sealed is not counted")
}
