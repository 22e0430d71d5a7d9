package vfstest

import (
	"bytes"
	"math/rand/v2"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/vfs"
)

func contents(t *testing.T, fs vfs.FS, name string) []byte {
	t.Helper()
	f, err := fs.Open(name, false)
	require.NoError(t, err)
	n, err := f.Size()
	require.NoError(t, err)
	p := make([]byte, n)
	if n > 0 {
		_, err = f.ReadAt(p, 0)
		require.NoError(t, err)
	}
	return p
}

// TestDisk does what TestOS does with the machine's file system.
func TestDisk(t *testing.T) {
	d := NewDisk(10000)
	f, err := d.Create("/d/f", 4000)
	require.NoError(t, err)
	_, err = d.Create("/d/f", 1)
	require.ErrorIs(t, err, os.ErrExist)
	_, err = d.Create("/d/g", 6001)
	require.ErrorIs(t, err, syscall.ENOSPC)
	_, err = f.WriteAt([]byte("hello"), 1000)
	require.NoError(t, err)
	_, err = f.WriteAt([]byte("hello"), 3996)
	require.Error(t, err, "a file cannot grow")
	list, err := d.List("/d")
	require.NoError(t, err)
	require.Equal(t, []vfs.Entry{{Name: "f", Size: 4000}}, list)
	list, err = d.List("/")
	require.NoError(t, err)
	require.Empty(t, list)
	require.NoError(t, d.Rename("/d/f", "/d/e/f"))
	_, err = d.Open("/d/f", false)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.Equal(t, "hello", string(contents(t, d, "/d/e/f")[1000:1005]))
	free, err := d.Free("/")
	require.NoError(t, err)
	require.EqualValues(t, 6000, free)
	require.NoError(t, d.Remove("/d/e/f"))
	require.ErrorIs(t, d.Remove("/d/e/f"), os.ErrNotExist)
	l, err := d.Lock("x")
	require.NoError(t, err)
	_, err = d.Lock("x")
	require.ErrorIs(t, err, vfs.ErrLocked)
	require.NoError(t, l.Close())
}

// TestCrash counts over many crashes what they leave: what was made durable always, of the rest
// sometimes more, sometimes less, and never a byte that nobody wrote.
func TestCrash(t *testing.T) {
	d := NewDisk(1 << 20)
	make := func(name string) vfs.File {
		f, err := d.Create(name, 4096)
		require.NoError(t, err)
		return f
	}
	f := make("/d/durable")
	_, err := f.WriteAt(bytes.Repeat([]byte{1}, 4096), 0)
	require.NoError(t, err)
	require.NoError(t, f.Sync())
	gone := make("/d/gone")
	require.NoError(t, gone.Sync())
	require.NoError(t, d.SyncDir("/d"))
	_, err = f.WriteAt(bytes.Repeat([]byte{2}, 2048), 100)
	require.NoError(t, err)
	make("/d/new")
	require.NoError(t, d.Remove("/d/gone"))
	seen := map[string]int{}
	for seed := range uint64(300) {
		c := d.Crash(rand.New(rand.NewPCG(seed, 1)))
		b := contents(t, c, "/d/durable")
		require.Equal(t, bytes.Repeat([]byte{1}, 100), b[:100])
		require.Equal(t, bytes.Repeat([]byte{1}, 4096-2148), b[2148:])
		require.Empty(t, bytes.Trim(b, "\x01\x02"))
		switch n := bytes.Count(b, []byte{2}); n {
		case 0:
			seen["write lost"]++
		case 2048:
			seen["write kept"]++
		default:
			seen["write torn"]++
		}
		for _, name := range []string{"/d/new", "/d/gone"} {
			if f, err := c.Open(name, false); err == nil {
				n, err := f.Size()
				require.NoError(t, err)
				seen[name]++
				require.True(t, n == 4096 || n == 0 && name == "/d/new")
			}
		}
		again := d.Crash(rand.New(rand.NewPCG(seed, 1)))
		require.Equal(t, b, contents(t, again, "/d/durable"), "a seed gives the same disk")
	}
	for _, what := range []string{"write lost", "write kept", "write torn", "/d/new", "/d/gone"} {
		require.Greater(t, seen[what], 20, what)
		require.Less(t, seen[what], 280, what)
	}
}

// TestFailedSync is the trap: the data can be read, and the next Sync says that all is well.
func TestFailedSync(t *testing.T) {
	d := NewDisk(1 << 20)
	failing := true
	fs := Inject(d, func(op Op) error {
		if op.Kind == OpSync && failing {
			return syscall.EIO
		}
		return nil
	})
	f, err := fs.Create("/f", 4096)
	require.NoError(t, err)
	_, err = f.WriteAt([]byte("hello"), 0)
	require.NoError(t, err)
	require.ErrorIs(t, f.Sync(), syscall.EIO)
	failing = false
	require.NoError(t, f.Sync())
	require.NoError(t, fs.SyncDir("/"))
	require.Equal(t, "hello", string(contents(t, d, "/f")[:5]))
	require.Equal(t, "\x00\x00\x00\x00\x00", string(contents(t, d.Crash(rand.New(rand.NewPCG(1, 1))), "/f")[:5]))
}
