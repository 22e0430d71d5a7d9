package stills

import (
	"math/rand/v2"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/vfs"
)

// TestFailedFlush has a flush fail once. The system takes what it should have brought to the device for written, so a second
// fsync alone would say that all is well; and then the power goes.
func TestFailedFlush(t *testing.T) {
	for name, stills := range map[string]int{"of the open segment": 3, "of full segments too": 20} {
		t.Run(name, func(t *testing.T) {
			disk := vfs.NewDisk(4 << 20)
			var failing atomic.Bool
			failing.Store(true)
			opts := small
			opts.FS = vfs.Inject(disk, func(op vfs.Op) error {
				if op.Kind == vfs.OpSync && failing.Load() {
					return syscall.EIO
				}
				return nil
			})
			r := open(t, "/stills", opts)
			var list []Still
			for i := range stills {
				list = append(list, still("cam", Preview, time.Duration(i)*time.Second, 14000))
				require.NoError(t, r.Append(list[i]))
			}
			require.ErrorIs(t, r.Flush(), syscall.EIO)
			require.ErrorIs(t, r.Flush(), syscall.EIO)
			require.NotZero(t, r.Stats().FlushErrors)
			failing.Store(false)
			require.NoError(t, r.Flush())
			for luck := range uint64(20) {
				opts.FS = disk.Crash(rand.New(rand.NewPCG(luck, 1)))
				after := open(t, "/stills", opts)
				require.Equal(t, stills, survey(t, after, list))
			}
		})
	}
}

// TestGapThatLasts outlives the segment in which it was noted, also over restarts, until it is over.
func TestGapThatLasts(t *testing.T) {
	dir := memDir(t)
	opts := small
	opts.MaxBytes = 4 * opts.SegmentBytes
	r := open(t, dir, opts)
	at := func(s int) time.Time { return epoch.Add(time.Duration(s) * time.Second) }
	require.NoError(t, r.Gap("lost", at(-10), at(-5), "it was rebooted"))
	require.NoError(t, r.Gap("lost", at(0), time.Time{}, "no route to host"))
	fill := func(from int) {
		for i := range 50 {
			require.NoError(t, r.Append(still("cam", Preview, time.Duration(from+i)*time.Second, 14000)))
		}
	}
	for round := range 3 {
		fill(round * 100)
		_, err := r.Before("lost", Main, at(round*100+50))
		require.Equal(t, ReasonOffline, reason(t, err))
		require.ErrorContains(t, err, "no route to host")
		require.NoError(t, r.Close())
		requireClean(t, dir)
		r = open(t, dir, opts)
	}
	require.Len(t, r.Gaps("lost", time.Time{}, time.Time{}), 1, "the one that is over went with its segment")
	require.NoError(t, r.Gap("lost", at(0), at(400), "no route to host"))
	fill(500)
	require.Empty(t, r.Gaps("lost", time.Time{}, time.Time{}), "and so does this one when it is over")
}
