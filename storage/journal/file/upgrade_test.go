package file_test

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/journal"
	"vmsbridge/storage/journal/file"
	"vmsbridge/storage/journal/sample"
	"vmsbridge/uplink/vms"
)

func unpacked(t *testing.T, name string) []byte {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	b, err := io.ReadAll(z)
	require.NoError(t, err)
	return b
}

func requireForm2(t *testing.T, j *journal.Journal) {
	t.Helper()
	requireClean(t, j)
	s, err := j.OutboxStats()
	require.NoError(t, err)
	require.Equal(t, []int{60, 22, 2}, []int{s.Events, s.Waiting, s.Parked})
	page, err := j.List(vms.Query{Actors: []vms.Actor{{Type: vms.ActorCamera, ID: "cam1"}}, Ascending: true}, nil)
	require.NoError(t, err)
	require.Equal(t, 20, page.Total)
	require.Equal(t, sample.Epoch.Add(time.Minute), page.Events[0].StartTimestamp.Time)
	open, err := j.Unfinished()
	require.NoError(t, err)
	require.Len(t, open, 3)
	boot, err := j.Meta("boot")
	require.NoError(t, err)
	require.Equal(t, "7", string(boot))
}

// TestAFileOfAnEarlierBuild opens what a build without a log left: 60 events of 3 cameras, every
// 20th ongoing, every second one to be reported; of these two are parked and six reported.
func TestAFileOfAnEarlierBuild(t *testing.T) {
	path := sample.Path(t)
	require.NoError(t, os.WriteFile(path, unpacked(t, "form2.db.gz"), 0o600))
	for range 2 {
		j, err := journal.Open(path, journal.Options{})
		require.NoError(t, err)
		require.Nil(t, j.Damage())
		requireForm2(t, j)
		require.FileExists(t, path+file.LogSuffix)
		require.NoError(t, j.Close())
		require.NoFileExists(t, path+file.LogSuffix)
	}
}
