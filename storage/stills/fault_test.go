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
)

// faulty fails operation k, and with all set every later one too, as if the process had ended there.
type faulty struct {
	mu  sync.Mutex
	n   int
	k   int
	all bool
	err error
	hit vfs.Op
}

func (f *faulty) before(op vfs.Op) error {
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

// TestFaultAtEveryOperation fails operation 1, 2, 3 … of the scenario until it ends without reaching it. What Append took
// and the cap did not drop is there afterwards, and the ring is in order.
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
			step := 1
			if testing.Short() {
				step = 7
			}
			for k := 1; ; k += step {
				dir := memDir(t)
				f := &faulty{k: k, all: c.all, err: c.err}
				taken := scenario(t, dir, vfs.Inject(vfs.OS, f.before))
				what := fmt.Sprintf("%s at operation %d: %s %s", c.name, k, f.hit.Kind, filepath.Base(f.hit.Name))
				r, err := Open(dir, small)
				require.NoError(t, err, what)
				s := r.Stats()
				require.Zero(t, s.DamagedRecords+s.DamagedIndexes, what)
				// Of the taken ones, the last ones are there without a hole; the first ones may have been dropped.
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

// TestDeadDisk has the device refuse all writes: the ring is not emptied in vain, and goes on when they work again.
func TestDeadDisk(t *testing.T) {
	dir := t.TempDir()
	f := &faulty{k: -1, err: syscall.EIO}
	dead := false
	opts := small
	opts.FS = vfs.Inject(vfs.OS, func(op vfs.Op) error {
		if dead && op.Kind == vfs.OpWrite {
			return syscall.EIO
		}
		return f.before(op)
	})
	r := open(t, dir, opts)
	for i := range 100 {
		require.NoError(t, r.Append(still("cam", Preview, time.Duration(i)*time.Second, 14000)))
	}
	had := r.Stats().Stills
	dead = true
	for i := range 200 {
		require.ErrorIs(t, r.Append(still("cam", Preview, time.Duration(200+i)*time.Second, 14000)), syscall.EIO)
	}
	require.Greater(t, r.Stats().Stills, had-10, "writes that fail cost a segment at most")
	dead = false
	s := still("cam", Preview, time.Hour, 14000)
	require.NoError(t, r.Append(s))
	requireStill(t, r, s, At, s.Time)
}

// tinyDisk is a file system of that many bytes; the test is skipped where none can be mounted.
func tinyDisk(t *testing.T, size int) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", size)); err != nil {
		t.Skipf("cannot mount a small file system (needs root): %v", err)
	}
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(dir, 0)) })
	return dir
}

func TestFullDisk(t *testing.T) {
	dir := tinyDisk(t, 1<<20)
	opts := small // up to 1 MiB, which the disk does not have
	opts.FlushEvery = time.Millisecond
	r := open(t, filepath.Join(dir, "stills"), opts)
	var list []Still
	put := func(n int) {
		for range n {
			s := still("cam", Preview, time.Duration(len(list))*time.Second, 14000)
			require.NoError(t, r.Append(s))
			list = append(list, s)
			requireStill(t, r, s, At, s.Time)
		}
	}
	put(100)
	require.NotZero(t, r.Stats().DroppedSegments)
	before := r.Stats().Segments

	// Something else takes space: the ring gives way, and takes it back.
	ballast := filepath.Join(dir, "ballast")
	freed, err := r.Release(400 << 10)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(ballast, make([]byte, freed-100<<10), 0o600))
	put(100)
	require.Less(t, r.Stats().Segments, before)
	require.NoError(t, os.Remove(ballast))
	put(100)
	require.GreaterOrEqual(t, r.Stats().Segments, before)
}

func TestFullDiskWithNothingToDrop(t *testing.T) {
	dir := tinyDisk(t, 256<<10)
	ballast := filepath.Join(dir, "ballast")
	require.NoError(t, os.WriteFile(ballast, make([]byte, 220<<10), 0o600))
	r := open(t, filepath.Join(dir, "stills"), small)
	s := still("cam", Preview, 0, 100)
	err := r.Append(s)
	require.ErrorIs(t, err, ErrFull)
	require.ErrorContains(t, err, "free disk space")
	require.Empty(t, segmentFiles(t, filepath.Join(dir, "stills")), "no half segment is left")
	require.NoError(t, os.Remove(ballast))
	require.ErrorIs(t, r.Append(s), ErrFull, "it does not try at every picture")
	_, err = r.Release(0)
	require.NoError(t, err)
	require.NoError(t, r.Append(s))
	requireStill(t, r, s, At, s.Time)
}

// TestMinFree leaves room for others, down to two segments.
func TestMinFree(t *testing.T) {
	dir := tinyDisk(t, 2<<20)
	opts := small
	opts.MinFree = 1<<20 + 512<<10
	r := open(t, filepath.Join(dir, "stills"), opts)
	for i := range 100 {
		require.NoError(t, r.Append(still("cam", Preview, time.Duration(i)*time.Second, 14000)))
		free, err := vfs.OS.Free(dir)
		require.NoError(t, err)
		require.GreaterOrEqual(t, free, opts.MinFree)
	}
	require.Greater(t, r.Stats().Segments, 3)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "ballast"), make([]byte, 1<<20), 0o600))
	for i := range 100 {
		require.NoError(t, r.Append(still("cam", Preview, time.Hour+time.Duration(i)*time.Second, 14000)))
	}
	require.Equal(t, minSegments, r.Stats().Segments)
}

func TestReadOnly(t *testing.T) {
	opts := small
	opts.FS = vfs.Inject(vfs.OS, func(op vfs.Op) error {
		if op.Kind == vfs.OpLock {
			return &os.PathError{Op: "open", Path: op.Name, Err: syscall.EROFS}
		}
		return nil
	})
	_, err := Open(t.TempDir(), opts)
	require.ErrorIs(t, err, syscall.EROFS)
}
