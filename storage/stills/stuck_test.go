package stills

import (
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/stills/segment"
	"vmsbridge/storage/vfs"
	"vmsbridge/storage/vfs/vfstest"
)

// refusing is small on a disk that refuses an operation on the segments that are named from then
// on. One that cannot be deleted cannot get another name either.
func refusing(kind vfstest.OpKind, errno syscall.Errno, numbers ...uint64) (opts Options, begin func()) {
	names := map[string]bool{}
	for _, n := range numbers {
		names[segment.SegmentName(n)] = true
	}
	var on atomic.Bool
	opts = small
	opts.FS = vfstest.Inject(vfs.OS, func(op vfstest.Op) error {
		same := op.Kind == kind || kind == vfstest.OpRemove && op.Kind == vfstest.OpRename
		if on.Load() && same && (len(names) == 0 || names[filepath.Base(op.Name)]) {
			return &os.PathError{Op: string(op.Kind), Path: op.Name, Err: errno}
		}
		return nil
	})
	return opts, func() { on.Store(true) }
}

// TestSegmentsThatCannotBeDeleted cost an append each, and their room; the ring goes on. Where
// nothing can be deleted, no more than a few leave the index.
func TestSegmentsThatCannotBeDeleted(t *testing.T) {
	fill := func(t *testing.T, r *Ring, from, n int) (failed int) {
		for i := from; i < from+n; i++ {
			s := still("cam", Preview, time.Duration(i)*time.Second, 14000)
			if r.Append(s) != nil {
				failed++
				continue
			}
			requireStill(t, r, s, At, s.Time)
		}
		return failed
	}
	for _, errno := range []syscall.Errno{syscall.EPERM, syscall.EUCLEAN, syscall.EIO} {
		t.Run(errno.Error(), func(t *testing.T) {
			dir := memDir(t)
			opts, begin := refusing(vfstest.OpRemove, errno, 3, 7)
			begin()
			r := open(t, dir, opts)
			require.Equal(t, 2, fill(t, r, 0, 400))
			require.LessOrEqual(t, r.Stats().Bytes, opts.MaxBytes)
			require.EqualValues(t, 2*opts.SegmentBytes, r.Stats().Bytes-int64(len(live(r)))*opts.SegmentBytes)
			require.NoError(t, r.Close())
			// Nor does a smaller cap keep it from starting.
			opts.MaxBytes = 5 * opts.SegmentBytes
			r = open(t, dir, opts)
			require.Zero(t, fill(t, r, 400, 100))
			require.LessOrEqual(t, r.Stats().Bytes, opts.MaxBytes)
		})
	}
	t.Run("none can", func(t *testing.T) {
		opts, begin := refusing(vfstest.OpRemove, syscall.EACCES)
		r := open(t, memDir(t), opts)
		require.Zero(t, fill(t, r, 0, 200))
		had := len(live(r))
		begin()
		fill(t, r, 200, 200)
		require.GreaterOrEqual(t, len(live(r)), had-mostDead-1)
	})
	t.Run("read-only", func(t *testing.T) {
		opts, begin := refusing(vfstest.OpRemove, syscall.EROFS)
		r := open(t, memDir(t), opts)
		require.Zero(t, fill(t, r, 0, 200))
		had := len(live(r))
		begin()
		fill(t, r, 200, 200)
		require.GreaterOrEqual(t, len(live(r)), had-1)
	})
}

// live is the segments that can be deleted, or were not tried.
func live(r *Ring) (list []*member) {
	r.appendMu.Lock()
	defer r.appendMu.Unlock()
	for _, s := range r.segments {
		if !s.dead {
			list = append(list, s)
		}
	}
	return list
}

// TestMaxAgeBehindASegmentThatCannotBeDeleted: what is older than max_age goes, though one file
// stays.
func TestMaxAgeBehindASegmentThatCannotBeDeleted(t *testing.T) {
	opts, begin := refusing(vfstest.OpRemove, syscall.EPERM, 2)
	begin()
	h := &hand{wall: epoch}
	opts.Clock, opts.MaxAge = h.clock, day
	r := open(t, memDir(t), opts)
	for i := range 40 {
		require.NoError(t, r.Append(still("cam", Preview, time.Duration(i)*time.Second, 14000)))
	}
	tick := func() { r.appendMu.Lock(); defer r.appendMu.Unlock(); r.expire() }
	tick()
	for range 2 { // the one that is being written is closed first
		h.pass(2 * day)
		tick()
	}
	require.Len(t, r.segments, 1)
	require.EqualValues(t, 2, r.segments[0].Number)
	_, err := r.Before("cam", Preview, epoch.Add(time.Hour))
	require.Equal(t, ReasonPruned, reason(t, err))
}

// TestSegmentThatCannotBeOpened is skipped, by a start, by Check and by Repair, which tell of it;
// it goes when its turn comes.
func TestSegmentThatCannotBeOpened(t *testing.T) {
	for _, errno := range []syscall.Errno{syscall.EACCES, syscall.EUCLEAN, syscall.EIO} {
		for _, number := range []uint64{1, 3, 7} { // the last one was being written
			dir, list := made(t)
			opts, begin := refusing(vfstest.OpOpen, errno, number)
			begin()
			for range 2 {
				rep, err := check(opts.FS, dir)
				require.NoError(t, err)
				require.Len(t, rep.Problems, 1)
				require.Contains(t, rep.Problems[0].String(), segment.SegmentName(number)+": segment cannot be opened")
				rep, err = Repair(dir, opts)
				require.NoError(t, err)
				require.Len(t, rep.Problems, 1)
				require.Empty(t, rep.Repairs)
			}
			r := open(t, dir, opts)
			require.EqualValues(t, 1, r.Stats().DamagedSegments)
			require.GreaterOrEqual(t, survey(t, r, list), len(list)-9)
			require.NoError(t, r.Append(still("cam", Preview, time.Hour, 14000)))
			require.NoError(t, r.Close())
			r = open(t, dir, small)
			require.Equal(t, len(list), survey(t, r, list), "nothing was done to it")
			require.NoError(t, r.Close())
			r = open(t, dir, opts)
			for i := range 300 {
				require.NoError(t, r.Append(still("cam", Preview, 2*time.Hour+time.Duration(i)*time.Second, 14000)))
			}
			require.NoFileExists(t, filepath.Join(dir, segment.SegmentName(number)))
		}
	}
	dir, _ := made(t)
	opts, begin := refusing(vfstest.OpOpen, syscall.EMFILE)
	begin()
	_, err := Open(dir, opts)
	require.ErrorIs(t, err, syscall.EMFILE, "no file of the ring is to blame")
}

// TestSectorThatCannotBeRead: Repair leaves that segment alone and mends the others.
func TestSectorThatCannotBeRead(t *testing.T) {
	dir, list := made(t)
	edit(t, segmentFiles(t, dir)[4], flip(9))
	bad := filepath.Join(dir, segment.SegmentName(3))
	before, err := os.ReadFile(bad)
	require.NoError(t, err)
	opts, reads := small, 0
	opts.FS = vfstest.Inject(vfs.OS, func(op vfstest.Op) error {
		switch {
		case op.Name != bad:
		case op.Kind == vfstest.OpOpen:
			reads = 0
		case op.Kind == vfstest.OpRead:
			if reads++; reads == 6 { // in the midst of the records
				return &os.PathError{Op: "read", Path: bad, Err: syscall.EIO}
			}
		}
		return nil
	})
	rep, err := Repair(dir, opts)
	require.NoError(t, err)
	require.NotEmpty(t, rep.Problems)
	for _, p := range rep.Problems {
		require.Equal(t, bad, p.Path)
	}
	require.Len(t, rep.Repairs, 1)
	after, err := os.ReadFile(bad)
	require.NoError(t, err)
	require.Equal(t, before, after)
	r := open(t, dir, small)
	require.Equal(t, len(list), survey(t, r, list))
}

// TestNamesTaken by something that is no file: the next name is taken.
func TestNamesTaken(t *testing.T) {
	dir, list := made(t)
	require.NoError(t, os.Mkdir(filepath.Join(dir, segment.SegmentName(8)), 0o700))
	require.NoError(t, os.Symlink(segmentFiles(t, dir)[1], filepath.Join(dir, segment.SegmentName(9))))
	require.NoError(t, os.Symlink("nowhere", filepath.Join(dir, segment.SegmentName(10))))
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, segment.SegmentName(12)), 0o600))
	r := open(t, dir, small)
	for i := range 12 {
		s := still("cam", Preview, time.Hour+time.Duration(i), 14000)
		require.NoError(t, r.Append(s))
		requireStill(t, r, s, At, s.Time)
	}
	require.Equal(t, len(list), survey(t, r, list))
}

// TestDiskThatDies: a question is not asked of every still there is, but goes past a segment that
// does not answer.
func TestDiskThatDies(t *testing.T) {
	var reads atomic.Int64
	dead := map[string]bool{}
	opts := small
	opts.FS = vfstest.Inject(vfs.OS, func(op vfstest.Op) error {
		if op.Kind == vfstest.OpRead && dead[filepath.Base(op.Name)] {
			reads.Add(1)
			return &os.PathError{Op: "read", Path: op.Name, Err: syscall.EIO}
		}
		return nil
	})
	r := open(t, memDir(t), opts)
	list := begun(t, r, Preview, 3000, 200)
	last, n := list[len(list)-1].Time, uint64(r.Stats().Segments)
	require.Greater(t, n, uint64(8))
	dead[segment.SegmentName(n)], dead[segment.SegmentName(n-1)] = true, true
	got, err := r.Before("cam", Preview, last)
	require.NoError(t, err)
	require.EqualValues(t, 4, reads.Load(), "two of each segment")
	_, err = r.After("cam", Preview, got.Time)
	require.Equal(t, ReasonDamaged, reason(t, err))
	for i := range n {
		dead[segment.SegmentName(i)] = true
	}
	reads.Store(0)
	_, err = r.Before("cam", Preview, last)
	require.Equal(t, ReasonDamaged, reason(t, err))
	require.LessOrEqual(t, reads.Load(), int64(mostRefused))
}
