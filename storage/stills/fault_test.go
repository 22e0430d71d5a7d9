package stills

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/vfs"
	"vmsbridge/storage/vfs/vfstest"
)

// faulty fails operation k, and with all set every later one too, as if the process had ended
// there.
type faulty struct {
	mu  sync.Mutex
	n   int
	k   int
	all bool
	err error
	hit vfstest.Op
}

func (f *faulty) before(op vfstest.Op) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.n++
	if f.n == f.k {
		f.hit = op
	}
	if f.n == f.k || f.all && f.n > f.k {
		return f.err
	}
	return nil
}

// scenario goes through everything a ring does, and returns the stills whose Append succeeded.
func scenario(t *testing.T, dir string, fs vfs.FS) (taken []Still) {
	opts := small
	opts.FS, opts.MaxBytes, opts.MinFree = fs, 4*opts.SegmentBytes, 1
	for round := range 2 {
		r, err := Open(dir, opts)
		if err != nil {
			continue
		}
		for i := range 22 {
			s := still("cam", Preview, time.Duration(round*100+i)*time.Second, 14000+i)
			if r.Append(s) == nil {
				taken = append(taken, s)
				if i%7 == 0 {
					requireFound(t, r, s)
				}
			}
			switch i {
			case 3:
				_ = r.Gap("cam", epoch, epoch.Add(time.Second), "offline")
			case 5, 15:
				_ = r.Flush()
			case 20:
				_, _ = r.Release(1)
			}
		}
		_ = r.Close()
	}
	return taken
}

// requireFound allows that the device does not let it be read just now.
func requireFound(t *testing.T, r *Ring, s Still) {
	t.Helper()
	got, err := r.Find(s.Camera, s.Kind, At, s.Time)
	if none, ok := errors.AsType[*NoneError](err); ok {
		require.Equal(t, ReasonDamaged, none.Reason, "%v", err)
		return
	}
	require.NoError(t, err)
	require.True(t, bytes.Equal(s.JPEG, got.JPEG))
}

// TestFaultAtEveryOperation fails operation 1, 4, 7 … of the scenario, on a real disk, until it
// ends without reaching it. What Append took and the cap did not drop is there afterwards, and the
// ring is in order.
func TestFaultAtEveryOperation(t *testing.T) {
	for _, c := range []struct {
		name string
		all  bool
		err  error
	}{
		{"EIO", false, syscall.EIO},
		{"disk full", false, syscall.ENOSPC},
		{"crash", true, syscall.EIO},
		{"disk full for good", true, syscall.ENOSPC},
	} {
		t.Run(c.name, func(t *testing.T) {
			step := 3 // TestOrdeal takes every one
			if testing.Short() {
				step = 7
			}
			for k := 1; ; k += step {
				dir := memDir(t)
				f := &faulty{k: k, all: c.all, err: c.err}
				taken := scenario(t, dir, vfstest.Inject(vfs.OS, f.before))
				what := fmt.Sprintf("%s at operation %d: %s %s", c.name, k, f.hit.Kind, filepath.Base(f.hit.Name))
				r, err := Open(dir, small)
				require.NoError(t, err, what)
				s := r.Stats()
				require.Zero(t, s.DamagedRecords+s.DamagedIndexes, what)
				// Of the taken ones, the last ones are there without a hole; the first ones may
				// have been dropped.
				missing := -1
				for i, st := range taken {
					got, err := r.Find(st.Camera, st.Kind, At, st.Time)
					if err != nil {
						require.Equal(t, i, missing+1, "%s: a hole before still %d", what, i)
						missing = i
						continue
					}
					require.True(t, bytes.Equal(st.JPEG, got.JPEG), what)
				}
				if c.err == syscall.EIO && len(taken) > 0 {
					require.Less(t, missing, len(taken)-1, "%s: an error costs the oldest at most", what)
				}
				require.NoError(t, r.Append(still("cam", Main, 0, 100)), what)
				require.NoError(t, r.Close(), what)
				rep, err := Check(dir)
				require.NoError(t, err)
				require.Empty(t, rep.Problems, what)
				if f.n < k {
					require.Len(t, taken, 44)
					t.Logf("%d operations", f.n)
					return
				}
			}
		})
	}
}

// TestDeadDisk has the device refuse writes: the ring is not emptied in vain, and goes on when they
// work again.
func TestDeadDisk(t *testing.T) {
	for _, c := range []struct {
		name  string
		spare int // writes to each file that still work: two make a segment
	}{{"every write", 0}, {"every record", 2}} {
		t.Run(c.name, func(t *testing.T) {
			var mu sync.Mutex
			writes := map[string]int{}
			dead := false
			kill := func(to bool) { mu.Lock(); dead = to; mu.Unlock() }
			opts := small
			opts.FS = vfstest.Inject(vfs.OS, func(op vfstest.Op) error {
				mu.Lock()
				defer mu.Unlock()
				if op.Kind == vfstest.OpWrite {
					if writes[op.Name]++; dead && writes[op.Name] > c.spare {
						return syscall.EIO
					}
				}
				return nil
			})
			r := open(t, memDir(t), opts)
			for i := range 100 {
				require.NoError(t, r.Append(still("cam", Preview, time.Duration(i)*time.Second, 14000)))
			}
			had := r.Stats().Stills
			kill(true)
			for i := range 200 {
				require.ErrorIs(t, r.Append(still("cam", Preview, time.Duration(200+i)*time.Second, 14000)),
					syscall.EIO)
			}
			require.Greater(t, r.Stats().Stills, had-10, "writes that fail cost a segment or two")
			kill(false)
			s := still("cam", Preview, time.Hour, 14000)
			require.NoError(t, r.Append(s))
			requireStill(t, r, s, At, s.Time)
		})
	}
}

func TestReadOnly(t *testing.T) {
	opts := small
	opts.FS = vfstest.Inject(vfs.OS, func(op vfstest.Op) error {
		if op.Kind == vfstest.OpLock {
			return &os.PathError{Op: "open", Path: op.Name, Err: syscall.EROFS}
		}
		return nil
	})
	_, err := Open(t.TempDir(), opts)
	require.ErrorIs(t, err, syscall.EROFS)
}
