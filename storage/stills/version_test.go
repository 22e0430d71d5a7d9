package stills

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/stills/segment"
	"vmsbridge/storage/vfs"
)

// older makes a segment of version 1 as that version did, sealed or not, and returns its stills.
func older(t *testing.T, dir string, number uint64, n int, sealed bool) (list []Still) {
	t.Helper()
	b := segment.NewBlock(number, segment.Quiet, 64<<10, epoch)
	b.Version = 1
	_, w, err := segment.Begin(vfs.OS, dir, b)
	require.NoError(t, err)
	defer func() { require.NoError(t, w.Close()) }()
	x := segment.NewDraft(1)
	for i := range n {
		s := still("cam", Preview, time.Duration(number)*time.Hour+time.Duration(i)*time.Second, 1000+i)
		key := segment.Key{Camera: s.Camera, Kind: s.Kind}
		head := segment.StillRecord(key, s.Time.UnixNano(), s.JPEG)
		at, err := w.Put(w.Encode(nil, head, s.Camera, s.JPEG))
		require.NoError(t, err)
		x.Add(key, segment.Entry{Time: head.Time, Place: at})
		list = append(list, s)
	}
	if sealed {
		w.End(x.Listing(0, 0))
		f := w.BeginFlush()
		f.Run()
		require.NoError(t, f.Err)
	}
	return list
}

// TestVersion1 opens a ring of the version before: everything is found, sizes are read where the
// index lacks them, and what is new goes into segments of this version.
func TestVersion1(t *testing.T) {
	dir := t.TempDir()
	list := older(t, dir, 1, 30, true)
	list = append(list, older(t, dir, 2, 20, false)...)
	requireClean(t, dir)
	for range 2 {
		r, err := Open(dir, small)
		require.NoError(t, err)
		s := r.Stats()
		require.Zero(t, s.DamagedSegments+s.DamagedRecords+s.DamagedIndexes)
		require.Equal(t, len(list), survey(t, r, list))
		frames, more, err := r.Range("cam", Preview, epoch, epoch.Add(day), 0)
		require.NoError(t, err)
		require.False(t, more)
		require.Len(t, frames, len(list))
		for i := range list {
			require.Equal(t, Frame{list[i].Time.UTC(), Preview, len(list[i].JPEG)}, frames[i])
		}
		next := still("cam", Preview, 10*time.Hour+time.Duration(len(list)), 100)
		require.NoError(t, r.Append(next))
		list = append(list, next)
		require.NoError(t, r.Close())
		requireClean(t, dir)
	}
	require.Len(t, segmentFiles(t, dir), 3)
}

// TestNewerVersion is refused by everything, and left as it is.
func TestNewerVersion(t *testing.T) {
	dir := t.TempDir()
	older(t, dir, 1, 3, true)
	b := segment.NewBlock(2, segment.Quiet, 64<<10, epoch)
	b.Version = segment.VersionEra + 1
	_, w, err := segment.Begin(vfs.OS, dir, b)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	name := filepath.Join(dir, segment.SegmentName(2))
	before, err := os.ReadFile(name)
	require.NoError(t, err)
	_, err = Open(dir, small)
	var newer *VersionError
	require.ErrorAs(t, err, &newer)
	require.ErrorContains(t, err, name+" has version 4 of the format, and this program knows 1 to 3")
	_, err = Check(dir)
	require.ErrorAs(t, err, &newer)
	_, err = Repair(dir, small)
	require.ErrorAs(t, err, &newer)
	after, err := os.ReadFile(name)
	require.NoError(t, err)
	require.Equal(t, before, after)
	require.Len(t, segmentFiles(t, dir), 2)
}
