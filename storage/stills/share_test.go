package stills

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// hand is a clock that a test moves.
type hand struct {
	mu   sync.Mutex
	wall time.Time
	up   time.Duration
}

func (h *hand) clock() (time.Time, time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.wall, h.up
}

// pass lets time go by; step moves the wall clock only.
func (h *hand) pass(d time.Duration) {
	h.mu.Lock()
	h.wall, h.up = h.wall.Add(d), h.up+d
	h.mu.Unlock()
}
func (h *hand) step(d time.Duration) { h.mu.Lock(); h.wall = h.wall.Add(d); h.mu.Unlock() }

// TestNoisyCamera has one camera store a hundred times what the others do, for two days, over
// restarts and steps of the clock: the others keep their last day without a hole, and of its own
// the noisy one keeps the newest, and some of each hour before.
func TestNoisyCamera(t *testing.T) {
	const others, size = 3, 2000
	h := &hand{wall: epoch}
	opts := Options{MaxBytes: 8 << 20, SegmentBytes: 128 << 10, FlushEvery: time.Hour, MinFree: -1, Clock: h.clock}
	// A quarter of the ring for each of four cameras' last days is 512 KiB: 262 stills, one in 5.5
	// minutes.
	const every = 6 * time.Minute
	dir := memDir(t)
	r, err := Open(dir, opts)
	require.NoError(t, err)
	took := map[string][]time.Time{}
	store := func(camera string, n int) {
		at := epoch.Add(h.up + time.Duration(n))
		require.NoError(t, r.Append(Still{camera, Preview, at, picture(uint64(at.UnixNano()), size)}))
		took[camera] = append(took[camera], at)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for h.up < 2*day {
		h.pass(every)
		for c := range others {
			store(fmt.Sprint("calm", c), 0)
		}
		for n := range 100 {
			store("noisy", n+1)
		}
		switch rng.IntN(200) {
		case 0:
			h.step(time.Duration(rng.IntN(100)-50) * day)
		case 1:
			require.NoError(t, r.Close())
			r, err = Open(dir, opts)
			require.NoError(t, err)
		}
		require.LessOrEqual(t, r.Stats().Bytes, opts.MaxBytes)
	}
	have := func(camera string, from time.Duration) (n int) {
		for _, at := range took[camera] {
			if at.Before(epoch.Add(from)) {
				continue
			}
			if _, err := r.Find(camera, Preview, At, at); err == nil {
				n++
			}
		}
		return n
	}
	for c := range others {
		require.Equal(t, int(day/every)+1, have(fmt.Sprint("calm", c), day), "the last day is whole")
	}
	newest := took["noisy"][len(took["noisy"])-1000:]
	for _, at := range newest {
		_, err := r.Find("noisy", Preview, At, at)
		require.NoError(t, err, "the newest of the noisy camera")
	}
	for hour := range 24 {
		at := epoch.Add(day + time.Duration(hour+1)*time.Hour)
		got, err := r.Before("noisy", Preview, at)
		require.NoError(t, err)
		require.Less(t, at.Sub(got.Time), time.Hour, "some of each hour of the noisy one's last day")
	}
	require.NoError(t, r.Close())
	requireClean(t, dir)

	// Without lanes, the noisy camera has it all.
	plain := opts
	plain.MaxBytes, plain.SegmentBytes = 8<<20, 2<<20
	h2 := &hand{wall: epoch}
	plain.Clock = h2.clock
	p := open(t, memDir(t), plain)
	for i := range 240 {
		at := epoch.Add(time.Duration(i) * every)
		require.NoError(t, p.Append(Still{"calm0", Preview, at, picture(1, size)}))
		for n := range 100 {
			require.NoError(t, p.Append(Still{"noisy", Preview, at.Add(time.Duration(n)), picture(1, size)}))
		}
	}
	_, err = p.Find("calm0", Preview, AtOrBefore, epoch.Add(100*every))
	require.Equal(t, ReasonPruned, reason(t, err))
}
