package stills

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/stills/segment"
	"vmsbridge/storage/vfs"
	"vmsbridge/storage/vfs/vfstest"
)

// TestAMissingSegmentIsFound wherever it was, by Check and by the next start; it is told until a
// repair notes it.
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
	all := rep.Segments
	for n := uint64(1); n <= uint64(all); n++ {
		path := filepath.Join(dir, segment.SegmentName(n))
		require.NoError(t, os.Rename(path, path+"-away"))
		rep, err := Check(dir)
		require.NoError(t, err)
		require.Equal(t, []uint64{n}, rep.Missing)
		require.False(t, rep.Clean())
		require.NoError(t, os.Rename(path+"-away", path))
	}
	lost := []uint64{1, 3, uint64(all)}
	for _, n := range lost {
		require.NoError(t, os.Remove(filepath.Join(dir, segment.SegmentName(n))))
	}
	for start := range 3 {
		r, err := Open(dir, o)
		require.NoError(t, err)
		require.EqualValues(t, []int{3, 0, 0}[start], r.Stats().DamagedSegments, "each is counted once")
		require.NoError(t, r.Close())
		rep, err := Check(dir)
		require.NoError(t, err)
		require.Equal(t, lost, rep.Missing)
		require.Len(t, rep.Problems, 3)
	}
	rep, err = Repair(dir, o)
	require.NoError(t, err)
	require.Empty(t, rep.Problems)
	require.Contains(t, fmt.Sprint(rep.Repairs), "segment 3 is missing")
	requireClean(t, dir)
	r, err = Open(dir, o)
	require.NoError(t, err)
	require.NoError(t, r.Close())
	requireClean(t, dir)
}

// TestALostSegmentIsForgotten when all that was beside it has been dropped.
func TestALostSegmentIsForgotten(t *testing.T) {
	dir, _ := made(t)
	require.NoError(t, os.Remove(filepath.Join(dir, segment.SegmentName(2))))
	r, err := Open(dir, small)
	require.NoError(t, err)
	for i := range 200 {
		require.NoError(t, r.Append(still("cam", Preview, time.Hour+time.Duration(i)*time.Second, 14000)))
	}
	require.NoError(t, r.Close())
	requireClean(t, dir)
}

// TestNothingIsMissingWithoutAList that could name it.
func TestNothingIsMissingWithoutAList(t *testing.T) {
	dir, _ := made(t)
	list := filepath.Join(dir, segment.ManifestName)
	require.NoError(t, os.Remove(list))
	require.NoError(t, os.Remove(filepath.Join(dir, segment.SegmentName(1))))
	requireClean(t, dir)
	r, err := Open(dir, small)
	require.NoError(t, err)
	require.Zero(t, r.Stats().DamagedSegments)
	require.NoError(t, r.Close())
	requireClean(t, dir)
	require.FileExists(t, list)
}

// TestADamagedListIsTold where neither slot can be read; one is enough.
func TestADamagedListIsTold(t *testing.T) {
	dir, _ := made(t)
	r, err := Open(dir, small) // the second list
	require.NoError(t, err)
	require.NoError(t, r.Close())
	path := filepath.Join(dir, segment.ManifestName)
	good, err := os.ReadFile(path)
	require.NoError(t, err)
	for slot := range 2 {
		edit(t, path, flip(slot*segment.ManifestSlot+25))
		requireClean(t, dir)
		require.NoError(t, os.WriteFile(path, good, 0o600))
	}
	edit(t, path, flip(25))
	edit(t, path, flip(segment.ManifestSlot+25))
	rep, err := Check(dir)
	require.NoError(t, err)
	require.Len(t, rep.Problems, 1)
	require.ErrorContains(t, errors.New(rep.Problems[0].String()), "the list of segments is damaged")
	rep, err = Repair(dir, small)
	require.NoError(t, err)
	require.Empty(t, rep.Problems)
	require.Len(t, rep.Repairs, 1)
}

// TestNoSegmentIsMissingThatWasDropped: a small ring goes round for days under changing load, with
// power cuts at any operation; what it drops itself is not told, nor what never reached the device.
func TestNoSegmentIsMissingThatWasDropped(t *testing.T) {
	for seed := range uint64(20) {
		rng, luck := rand.New(rand.NewPCG(seed, 1)), rand.New(rand.NewPCG(seed, 2))
		disk := vfstest.NewDisk(16 << 20)
		var up atomic.Int64 // the ring's flusher asks for the time as well
		o := Options{MaxBytes: 2 << 20, SegmentBytes: 128 << 10, MinFree: -1, MaxAge: 60 * time.Hour, Cameras: 4,
			Clock: func() (time.Time, time.Duration) { d := time.Duration(up.Load()); return epoch.Add(d), d }}
		for life := range 8 {
			var mu sync.Mutex
			var cuts []*vfstest.Disk
			o.FS = vfstest.Inject(disk, func(op vfstest.Op) error {
				mu.Lock()
				defer mu.Unlock()
				if op.Kind != vfstest.OpWrite && op.Kind != vfstest.OpRead && luck.IntN(300) == 0 {
					cuts = append(cuts, disk.Crash(luck))
				}
				return nil
			})
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
			if rng.IntN(2) == 0 {
				rotSlot(t, disk, rng.IntN(2))
			}
			for _, disk := range append(cuts, disk) {
				rep, err := checkOf(disk)
				require.NoError(t, err)
				require.Empty(t, rep.Missing, "seed %d, life %d", seed, life)
			}
		}
	}
}

// rotSlot makes one of the slots of the list of segments unreadable, if there is a list.
func rotSlot(t *testing.T, disk *vfstest.Disk, slot int) {
	f, err := disk.Open(filepath.Join("ring", segment.ManifestName), true)
	if err != nil {
		return
	}
	_, err = f.WriteAt([]byte("rot"), int64(slot)*segment.ManifestSlot+20)
	require.NoError(t, err)
	require.NoError(t, f.Sync())
}

func checkOf(fs vfs.FS) (Report, error) { return check(fs, "ring") }

// TestWhatAPowerCutLeavesIsNoDamage, as it is found before the next start, where stills are flushed
// as they should be.
func TestWhatAPowerCutLeavesIsNoDamage(t *testing.T) {
	torn := 0
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 2))
		disk := vfstest.NewDisk(16 << 20)
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
		rep, err := checkOf(cut)
		require.NoError(t, err)
		require.Empty(t, rep.Problems, "seed %d", seed)
		torn += len(rep.Torn)
	}
	require.Positive(t, torn, "some of the cuts left something")
}
