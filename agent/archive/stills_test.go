package archive

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/agent/clock"
	"vmsbridge/storage/stills"
	"vmsbridge/storage/vfs"
	"vmsbridge/storage/vfs/vfstest"
)

// A disk that stands still holds up no camera: what they hand in waits in memory, within bounds,
// and is stored when the disk goes on.
func TestTheStillWriterHoldsUpNoCamera(t *testing.T) {
	var stands atomic.Bool
	release := make(chan struct{})
	fs := vfstest.Inject(vfs.OS, func(op vfstest.Op) error {
		if op.Kind == vfstest.OpWrite && stands.Load() {
			<-release
		}
		return nil
	})
	ring, err := stills.Open(t.TempDir(), stills.Options{FS: fs, MaxBytes: 256 << 20, SegmentBytes: 4 << 20,
		FlushEvery: time.Hour})
	require.NoError(t, err)
	log := slog.New(slog.DiscardHandler)
	s := NewStillWriter(ring, clock.New(clock.Options{Machine: clock.System(), Log: log}), log)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()

	now := time.Now().UTC().Truncate(time.Millisecond)
	still := func(n int) stills.Still {
		return stills.Still{Camera: "c", Kind: stills.Preview, Time: now.Add(time.Duration(n) * time.Second),
			JPEG: make([]byte, 1<<20)}
	}
	require.NoError(t, s.Append(still(0)))
	require.Eventually(t, func() bool { // before Append returns, where the machine is not busy
		_, err := ring.Find("c", stills.Preview, stills.At, still(0).Time)
		return err == nil
	}, time.Minute, time.Millisecond)

	stands.Store(true)
	began := time.Now()
	n := 1
	for ; n < 100; n++ {
		if err = s.Append(still(n)); err != nil {
			break
		}
	}
	require.NoError(t, s.Gap("c", still(100).Time, still(101).Time, "away"))
	require.ErrorIs(t, err, errDiskStalls)
	require.Equal(t, waitingBytes>>20+1, n, "what waits is bounded")
	require.Less(t, time.Since(began), 10*time.Second, "a camera waits once, a tenth of a second")
	stands.Store(false)
	close(release)
	require.Eventually(t, func() bool { return len(ring.Gaps("c", time.Time{}, time.Time{})) == 1 }, time.Minute,
		time.Millisecond)
	for i := range n {
		got, err := ring.Find("c", stills.Preview, stills.At, still(i).Time)
		require.NoError(t, err)
		require.Equal(t, still(i).Time, got.Time)
	}
	require.NoError(t, s.Append(still(200)))
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)
	require.NoError(t, ring.Close())
}

// What a disk refuses for some seconds is stored when it works again, also where the ring must
// begin a segment meanwhile.
func TestAFailingDiskCostsNoStill(t *testing.T) {
	for name, kind := range map[string]vfstest.OpKind{
		"making a segment": vfstest.OpCreate, "writing": vfstest.OpWrite,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var fails atomic.Bool
			var refusals atomic.Int64
			fs := vfstest.Inject(vfs.OS, func(op vfstest.Op) error {
				if op.Kind == kind && fails.Load() {
					refusals.Add(1)
					return syscall.EIO
				}
				return nil
			})
			ring, err := stills.Open(t.TempDir(), stills.Options{FS: fs, MaxBytes: 64 << 20, SegmentBytes: 1 << 20,
				FlushEvery: time.Hour})
			require.NoError(t, err)
			var said lines
			log := slog.New(slog.NewTextHandler(&said, nil))
			s := NewStillWriter(ring,
				clock.New(clock.Options{Machine: clock.System(), Log: slog.New(slog.DiscardHandler)}), log)
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { done <- s.Run(ctx) }()
			now := time.Now().UTC().Truncate(time.Millisecond)
			still := func(n int) stills.Still {
				return stills.Still{Camera: "c", Kind: stills.Preview, Time: now.Add(time.Duration(n) * time.Second),
					JPEG: make([]byte, 200<<10)}
			}
			require.NoError(t, s.Append(still(0)))
			fails.Store(true)
			for n := 1; n < 40; n++ { // some ten segments
				require.NoError(t, s.Append(still(n)))
			}
			require.NoError(t, s.Gap("c", still(40).Time, still(41).Time, "away"))
			require.Eventually(t, func() bool { return refusals.Load() > 1 }, time.Minute, time.Millisecond)
			fails.Store(false)
			require.Eventually(t, func() bool { return len(ring.Gaps("c", time.Time{}, time.Time{})) == 1 },
				time.Minute, time.Millisecond)
			for n := range 40 {
				_, err := ring.Find("c", stills.Preview, stills.At, still(n).Time)
				require.NoError(t, err, "still %d", n)
			}
			cancel()
			require.ErrorIs(t, <-done, context.Canceled)
			require.NoError(t, ring.Close())
			require.Equal(t, 1, strings.Count(said.String(), "they wait in memory"), said.String())
			require.Contains(t, said.String(), "stills are stored again")
		})
	}
}

// lines is a log in memory.
type lines struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
