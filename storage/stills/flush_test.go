package stills

import (
	"math/rand/v2"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/vfs/vfstest"
)

// TestFailedFlush has a flush fail once. The system takes what it should have brought to the device
// for written, so a second fsync alone would say that all is well; and then the power goes.
func TestFailedFlush(t *testing.T) {
	for name, stills := range map[string]int{"of the open segment": 3, "of full segments too": 20} {
		t.Run(name, func(t *testing.T) {
			disk := vfstest.NewDisk(4 << 20)
			var failing atomic.Bool
			failing.Store(true)
			opts := small
			opts.FS = vfstest.Inject(disk, func(op vfstest.Op) error {
				if op.Kind == vfstest.OpSync && failing.Load() {
					return syscall.EIO
				}
				return nil
			})
			r := open(t, "/stills", opts)
			list := begun(t, r, Preview, stills, 14000)
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

// TestFewBytesWait: a flush waits for more where little is there, but not for ever; many bytes do
// not wait.
func TestFewBytesWait(t *testing.T) {
	for _, c := range []struct {
		name     string
		bytes, n int
		ticks    float64 // at least, of the first flush
	}{
		{"few", 1000, 1, patience - 1},
		{"many", 14000, 20, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var syncs atomic.Int64
				opts := Options{MaxBytes: 8 << 20, SegmentBytes: 1 << 20, MinFree: -1,
					FlushEvery: 50 * time.Millisecond}
				opts.FS = vfstest.Inject(vfstest.NewDisk(16<<20), func(op vfstest.Op) error {
					if op.Kind == vfstest.OpSync {
						syncs.Add(1)
					}
					return nil
				})
				r := open(t, "/stills", opts)
				began := time.Now()
				for i := range c.n {
					require.NoError(t, r.Append(still("cam", Preview, time.Duration(i)*time.Second, c.bytes)))
				}
				for ticks := 0; syncs.Load() == 0; ticks++ {
					require.Less(t, ticks, 2*patience)
					time.Sleep(opts.FlushEvery)
					synctest.Wait()
				}
				require.GreaterOrEqual(t, time.Since(began), time.Duration(c.ticks*float64(opts.FlushEvery)))
			})
		})
	}
}
