package stills

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var epoch = time.Date(2026, 11, 21, 7, 0, 0, 123456789, time.UTC)

var small = Options{MaxBytes: 1 << 20, SegmentBytes: 64 << 10, FlushEvery: time.Hour, MinFree: -1}

// picture is bytes that differ by seed.
func picture(seed uint64, n int) []byte {
	b := make([]byte, n+8)
	rng := rand.New(rand.NewPCG(seed, 1))
	for i := 0; i < n; i += 8 {
		binary.LittleEndian.PutUint64(b[i:], rng.Uint64())
	}
	return b[:n:n]
}

func still(camera string, k Kind, at time.Duration, n int) Still {
	return Still{camera, k, epoch.Add(at), picture(uint64(at)+uint64(k), n)}
}

// begun puts the first n stills of a camera into a ring, a second apart, each of size bytes, and
// returns them.
func begun(t testing.TB, r *Ring, k Kind, n, size int) []Still {
	t.Helper()
	list := make([]Still, n)
	for i := range list {
		list[i] = still("cam", k, time.Duration(i)*time.Second, size)
		require.NoError(t, r.Append(list[i]))
	}
	return list
}

// memDir is a directory in memory where there is one, for tests of many flushes.
func memDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "stills-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	return dir
}

// open opens a ring, and at the end of the test closes and checks it.
func open(t testing.TB, dir string, opts Options) *Ring {
	t.Helper()
	r, err := Open(dir, opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	return r
}

// made is a ring of 60 stills in eight segments or so, closed.
func made(t *testing.T) (dir string, list []Still) {
	t.Helper()
	dir = memDir(t)
	r, err := Open(dir, small)
	require.NoError(t, err)
	for i := range 60 {
		s := still("cam", Preview, time.Duration(i)*time.Second, 7000+i)
		list = append(list, s)
		require.NoError(t, r.Append(s))
	}
	require.NoError(t, r.Close())
	requireClean(t, dir)
	return dir, list
}

func requireClean(t testing.TB, dir string) Report {
	t.Helper()
	rep, err := Check(dir)
	require.NoError(t, err)
	require.Empty(t, rep.Problems)
	return rep
}

func requireStill(t testing.TB, r *Ring, want Still, op Op, at time.Time) {
	t.Helper()
	got, err := r.Find(want.Camera, want.Kind, op, at)
	require.NoError(t, err)
	require.True(t, got.Time.Equal(want.Time), "time is %s, want %s", got.Time, want.Time)
	require.True(t, bytes.Equal(want.JPEG, got.JPEG), "bytes differ")
	require.Equal(t, want.Camera, got.Camera)
	require.Equal(t, want.Kind, got.Kind)
	require.Equal(t, time.UTC, got.Time.Location())
}

func reason(t testing.TB, err error) Reason {
	t.Helper()
	none, ok := errors.AsType[*NoneError](err)
	require.True(t, ok, "%v is no *NoneError", err)
	require.NotEmpty(t, none.Error())
	return none.Reason
}

// survey is how many of the stills are found by their time; each that is found is as it was, and
// asking before any time gives the one that survived next.
func survey(t *testing.T, r *Ring, list []Still) (found int) {
	t.Helper()
	var last *Still
	for i, s := range list {
		if last != nil {
			requireStill(t, r, *last, Before, s.Time)
		}
		got, err := r.Find(s.Camera, s.Kind, At, s.Time)
		if err != nil {
			reason(t, err)
			continue
		}
		require.True(t, bytes.Equal(s.JPEG, got.JPEG))
		last = &list[i]
		found++
	}
	return found
}

func segmentFiles(t testing.TB, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.seg"))
	require.NoError(t, err)
	return names
}

// diskBytes is what the segments take on disk, and no less than their sizes.
func diskBytes(t testing.TB, dir string) (total int64) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.seg"))
	require.NoError(t, err)
	for _, name := range names {
		info, err := os.Stat(name)
		require.NoError(t, err)
		total += max(info.Size(), blocks(info))
	}
	return total
}

func edit(t *testing.T, path string, f func(b []byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, f(b), 0o600))
}

var (
	flip = func(at int) func([]byte) []byte { return func(b []byte) []byte { b[at] ^= 16; return b } }
	zero = func(from, to int) func([]byte) []byte { return func(b []byte) []byte { clear(b[from:to]); return b } }
	cut  = func(n int) func([]byte) []byte { return func(b []byte) []byte { return b[:n] } }
)
