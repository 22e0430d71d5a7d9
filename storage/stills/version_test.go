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

// TestNewerVersion is refused by everything, and left as it is.
func TestNewerVersion(t *testing.T) {
	dir := t.TempDir()
	r, err := Open(dir, small)
	require.NoError(t, err)
	require.NoError(t, r.Append(still("cam", Preview, time.Second, 100)))
	require.NoError(t, r.Close())
	b := segment.NewBlock(2, segment.Quiet, 64<<10, epoch)
	b.Version = segment.VersionEra + 1
	_, w, err := segment.Begin(vfs.OS, dir, b)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	name := filepath.Join(dir, segment.SegmentName(2))
	before, err := os.ReadFile(name)
	require.NoError(t, err)
	_, err = Open(dir, small)
	var newer *segment.VersionError
	require.ErrorAs(t, err, &newer)
	require.ErrorContains(t, err, name+" has version 4 of the format, and this program knows 2 to 3")
	_, err = Check(dir)
	require.ErrorAs(t, err, &newer)
	_, err = Repair(dir, small)
	require.ErrorAs(t, err, &newer)
	after, err := os.ReadFile(name)
	require.NoError(t, err)
	require.Equal(t, before, after)
	require.Len(t, segmentFiles(t, dir), 2)
}
