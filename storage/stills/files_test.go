package stills

import (
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/vfs"
	"vmsbridge/storage/vfs/vfstest"
)

// counted counts the files that are open for reading.
type counted struct {
	vfs.FS
	open, most, opens atomic.Int64
}

type countedFile struct {
	vfs.File
	c    *counted
	once sync.Once
}

func (c *counted) Open(name string, write bool) (vfs.File, error) {
	f, err := c.FS.Open(name, write)
	if err != nil || write {
		return f, err
	}
	c.opens.Add(1)
	if n := c.open.Add(1); n > c.most.Load() {
		c.most.Store(n)
	}
	return &countedFile{File: f, c: c}, nil
}

func (f *countedFile) Close() error {
	f.once.Do(func() { f.c.open.Add(-1) })
	return f.File.Close()
}

// TestFilesStayOpen: the segments asked of last stay open, a bounded number of them, and none that
// was dropped or after Close.
func TestFilesStayOpen(t *testing.T) {
	c := &counted{FS: vfs.OS}
	opts := small
	opts.MaxBytes, opts.FS = 200*64<<10, c
	r := open(t, memDir(t), opts)
	const most = 64
	r.files.Limit = most
	const n = 4 * (most + 20)
	for i := range n {
		require.NoError(t, r.Append(still("cam", Preview, time.Duration(i)*time.Second, 14000)))
	}
	require.Greater(t, r.Stats().Segments, most+10)
	require.Zero(t, c.open.Load())
	ask := func(i int) error {
		_, err := r.Find("cam", Preview, At, epoch.Add(time.Duration(i)*time.Second))
		return err
	}
	for range 5 {
		require.NoError(t, ask(1))
	}
	require.EqualValues(t, 1, c.open.Load())
	require.EqualValues(t, 1, c.opens.Load(), "it was opened once")
	for i := range n {
		require.NoError(t, ask(i))
	}
	require.EqualValues(t, most, c.open.Load())
	require.LessOrEqual(t, c.most.Load(), int64(most+1))
	_, err := r.Release(opts.MaxBytes)
	require.NoError(t, err)
	require.LessOrEqual(t, c.open.Load(), int64(2), "of the segments that are left")
	require.NoError(t, ask(n-1))
	require.NoError(t, r.Close())
	require.Zero(t, c.open.Load())
	require.NoError(t, ask(n-1), "one may still ask")
	require.Zero(t, c.open.Load())
}

// TestFilesUnderLoad has many ask while segments come and go.
func TestFilesUnderLoad(t *testing.T) {
	c := &counted{FS: vfs.OS}
	opts := small
	opts.FS = c
	r := open(t, memDir(t), opts)
	require.NoError(t, r.Append(still("cam", Preview, 0, 14000)))
	var wait sync.WaitGroup
	stop := make(chan struct{})
	for range 4 {
		wait.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				if _, err := r.Find("cam", Preview, After, epoch.Add(time.Duration(i%500)*time.Second)); err != nil &&
					reason(t, err) == ReasonDamaged {
					t.Error(err)
				}
			}
		})
	}
	for i := range 500 {
		require.NoError(t, r.Append(still("cam", Preview, time.Duration(i)*time.Second, 14000)))
	}
	close(stop)
	wait.Wait()
	require.LessOrEqual(t, c.open.Load(), int64(r.Stats().Segments))
	require.NoError(t, r.Close())
	require.Zero(t, c.open.Load())
}

// TestFileThatFails: after a read that the device refused, the file is opened anew.
func TestFileThatFails(t *testing.T) {
	c := &counted{FS: vfs.OS}
	var failing atomic.Bool
	opts := small
	opts.FS = vfstest.Inject(c, func(op vfstest.Op) error {
		if op.Kind == vfstest.OpRead && failing.Load() {
			return os.ErrDeadlineExceeded
		}
		return nil
	})
	r := open(t, memDir(t), opts)
	s := still("cam", Preview, 0, 14000)
	require.NoError(t, r.Append(s))
	requireStill(t, r, s, At, s.Time)
	failing.Store(true)
	_, err := r.Find("cam", Preview, At, s.Time)
	require.Equal(t, ReasonDamaged, reason(t, err))
	require.Zero(t, c.open.Load())
	failing.Store(false)
	requireStill(t, r, s, At, s.Time)
	require.EqualValues(t, 2, c.opens.Load())
}
