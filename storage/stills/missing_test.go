package stills

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/stills/audit"
	"vmsbridge/storage/stills/form"
	"vmsbridge/storage/vfs"
)

// TestAMissingSegmentIsFound wherever it was, but for the ends: the oldest may have been dropped. A
// repair notes it, and it is told no more.
func TestAMissingSegmentIsFound(t *testing.T) {
	dir := t.TempDir()
	o := Options{MaxBytes: 64 << 20, SegmentBytes: 128 << 10, MinFree: -1}
	r, err := Open(dir, o)
	require.NoError(t, err)
	for i := range 400 {
		require.NoError(t, r.Append(Still{"cam", Preview, epoch.Add(time.Duration(i) * time.Minute),
			picture(uint64(i), 3000)}))
	}
	require.NoError(t, r.Close())
	rep, err := Check(dir)
	require.NoError(t, err)
	require.Empty(t, rep.Problems)
	require.Greater(t, rep.Segments, 6)
	for n := uint64(2); n < uint64(rep.Segments); n++ {
		path := filepath.Join(dir, form.SegmentName(n))
		require.NoError(t, os.Rename(path, path+"-away"))
		rep, err := Check(dir)
		require.NoError(t, err)
		require.Equal(t, []uint64{n}, rep.Missing)
		require.False(t, rep.Clean())
		require.NoError(t, os.Rename(path+"-away", path))
	}
	require.NoError(t, os.Remove(filepath.Join(dir, form.SegmentName(3))))
	rep, err = Repair(dir, o)
	require.NoError(t, err)
	require.Empty(t, rep.Problems)
	require.Contains(t, fmt.Sprint(rep.Repairs), "segment 3 is missing")
	r, err = Open(dir, o)
	require.NoError(t, err)
	require.NoError(t, r.Close())
	rep, err = Check(dir)
	require.NoError(t, err)
	require.Empty(t, rep.Problems)
}

// TestNoSegmentIsMissingThatWasDropped: a small ring goes round for days under changing load, with
// power cuts; what it drops itself is not told.
func TestNoSegmentIsMissingThatWasDropped(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		disk := vfs.NewDisk(16 << 20)
		var up atomic.Int64 // the ring's flusher asks for the time as well
		o := Options{MaxBytes: 2 << 20, SegmentBytes: 128 << 10, MinFree: -1, MaxAge: 60 * time.Hour, Cameras: 4,
			Clock: func() (time.Time, time.Duration) { d := time.Duration(up.Load()); return epoch.Add(d), d }}
		for life := range 8 {
			o.FS = disk
			r, err := Open("ring", o)
			require.NoError(t, err)
			for i := range 200 {
				now := epoch.Add(time.Duration(up.Add(int64(time.Duration(rng.IntN(30)) * time.Minute))))
				cam := fmt.Sprint("cam", rng.IntN(4))
				if rng.IntN(3) == 0 {
					cam = "cam0" // more than its share
				}
				require.NoError(t,
					r.Append(Still{cam, Preview, now.Add(time.Duration(i)), picture(uint64(i), 500+rng.IntN(9000))}))
				if rng.IntN(2) == 0 {
					require.NoError(t, r.Flush())
				}
			}
			cut := disk.Crash(rng)
			require.NoError(t, r.Close())
			disk = cut
			rep, err := auditOf(disk)
			require.NoError(t, err)
			require.Empty(t, rep.Missing, "seed %d, life %d", seed, life)
		}
	}
}

func auditOf(fs vfs.FS) (Report, error) { return audit.Check(fs, "ring") }

// TestWhatAPowerCutLeavesIsNoDamage, as it is found before the next start, where stills are flushed
// as they should be.
func TestWhatAPowerCutLeavesIsNoDamage(t *testing.T) {
	torn := 0
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 2))
		disk := vfs.NewDisk(16 << 20)
		var up atomic.Int64
		r, err := Open("ring", Options{MaxBytes: 8 << 20, SegmentBytes: 128 << 10, MinFree: -1, FS: disk,
			FlushEvery: time.Hour,
			Clock:      func() (time.Time, time.Duration) { d := time.Duration(up.Load()); return epoch.Add(d), d }})
		require.NoError(t, err)
		for i := range 50 + rng.IntN(60) {
			now := epoch.Add(time.Duration(up.Add(int64(time.Second))))
			require.NoError(t, r.Append(Still{"cam", Preview, now, picture(uint64(i), 500+rng.IntN(9000))}))
			if i%8 == 0 {
				require.NoError(t, r.Flush())
			}
		}
		cut := disk.Crash(rng)
		require.NoError(t, r.Close())
		rep, err := auditOf(cut)
		require.NoError(t, err)
		require.Empty(t, rep.Problems, "seed %d", seed)
		torn += len(rep.Torn)
	}
	require.Positive(t, torn, "some of the cuts left something")
}
