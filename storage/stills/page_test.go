package stills

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/stills/segment"
	"vmsbridge/storage/vfs"
	"vmsbridge/storage/vfs/vfstest"
)

// scribe is a file system that knows the lowest place that was written since the last look, ends of
// segments aside.
type scribe struct {
	vfs.FS
	mu     sync.Mutex
	lowest int64
}

type scribeFile struct {
	vfs.File
	of *scribe
}

func (s *scribe) Create(name string, size int64) (vfs.File, error) {
	f, err := s.FS.Create(name, size)
	return scribeFile{f, s}, err
}

func (s *scribe) Open(name string, write bool) (vfs.File, error) {
	f, err := s.FS.Open(name, write)
	return scribeFile{f, s}, err
}

func (f scribeFile) WriteAt(p []byte, at int64) (int, error) {
	f.of.mu.Lock()
	if len(p) > segment.BlockBytes || segment.Begins(p) {
		f.of.lowest = min(f.of.lowest, at)
	}
	f.of.mu.Unlock()
	return f.File.WriteAt(p, at)
}

// TestPagesAreWrittenOnce: what a flush brought to the device, nothing writes again, so that a
// power cut meanwhile cannot hurt it, and the device is spared.
func TestPagesAreWrittenOnce(t *testing.T) {
	disk := &scribe{FS: vfstest.NewDisk(8 << 20)}
	opts := Options{MaxBytes: 4 << 20, SegmentBytes: 2 << 20, FlushEvery: time.Hour, MinFree: -1, FS: disk}
	r := open(t, "/stills", opts)
	rng := rand.New(rand.NewPCG(4, 2))
	var list []Still
	var bytes int64
	for range 6 {
		disk.lowest = segment.MaxSegmentBytes
		from := int64(0)
		if w := r.lanes[segment.Quiet].file; w != nil {
			from = int64(w.Place())
		}
		for range 10 {
			s := still("cam", Preview, time.Duration(len(list))*time.Second, 20_000+rng.IntN(15_000))
			require.NoError(t, r.Append(s))
			list, bytes = append(list, s), bytes+int64(len(s.JPEG))
		}
		if from > 0 {
			require.Zero(t, from%segment.PageBytes)
			require.Equal(t, from, disk.lowest)
		}
		require.NoError(t, r.Flush())
	}
	require.Less(t, float64(r.Stats().WrittenBytes), 1.02*float64(bytes))
	require.NoError(t, r.Close())
	rep, err := check(disk, "/stills")
	require.NoError(t, err)
	require.True(t, rep.Clean(), rep.Problems)

	again := open(t, "/stills", opts)
	require.Equal(t, len(list), survey(t, again, list))
	s := again.Stats()
	require.Zero(t, s.DamagedRecords+s.TornRecords)
	disk.lowest = segment.MaxSegmentBytes
	end := int64(again.lanes[segment.Quiet].file.Place())
	require.NoError(t, again.Append(still("cam", Preview, time.Hour, 1000)))
	require.Equal(t, end, disk.lowest, "a start goes on on a page of its own")
	require.Zero(t, end%segment.PageBytes)
}

// TestLittleLeavesPagesOpen: where little is flushed, closing the page would take more room than
// the stills do.
func TestLittleLeavesPagesOpen(t *testing.T) {
	r := open(t, memDir(t), small)
	for i := range 50 {
		require.NoError(t, r.Append(still("cam", Preview, time.Duration(i)*time.Second, 800)))
		require.NoError(t, r.Flush())
	}
	require.Less(t, r.lanes[segment.Quiet].file.Place(), uint32(50*1000))
}

// TestTornBeforeAClosedPage: the last still of a flush did not arrive, and the end of the page did.
// Nothing was damaged then.
func TestTornBeforeAClosedPage(t *testing.T) {
	dir := memDir(t)
	opts := small
	opts.MaxBytes, opts.SegmentBytes = 4<<20, 1<<20
	r := open(t, dir, opts)
	list := begun(t, r, Preview, 9, 14_100)
	last := r.lanes[segment.Quiet].tail.Series[segment.Key{Camera: "cam", Kind: Preview}].List[8].Place
	require.NoError(t, r.Close())
	edit(t, segmentFiles(t, dir)[0], func(b []byte) []byte {
		clear(b[last+1000 : last+12_000])
		return b
	})
	again := open(t, dir, opts)
	require.Equal(t, 8, survey(t, again, list))
	s := again.Stats()
	require.Equal(t, uint64(1), s.TornRecords)
	require.Zero(t, s.DamagedRecords)
}
