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
	"vmsbridge/storage/journal/schema"
	"vmsbridge/uplink/vms"
)

// form1 is a journal of the first form, as the program of that time left it: 60 events of 3
// cameras, every 20th ongoing, every second one to be reported; of these two are parked and six
// reported.
func form1(t *testing.T) []byte { return unpacked(t, "form1.db.gz") }

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

func requireForm1(t *testing.T, j *journal.Journal) {
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

func TestUpgrade(t *testing.T) {
	path := sample.Path(t)
	require.NoError(t, os.WriteFile(path, form1(t), 0o600))
	j := openChecked(t, path, journal.Options{})
	require.Nil(t, j.Damage())
	requireForm1(t, j)
	first, err := j.Peek(1, nil)
	require.NoError(t, err)
	require.NoError(t, j.Ack(first[0].Event.ID, first[0].Revision), "revisions go on")
	s, err := j.OutboxStats()
	require.NoError(t, err)
	require.Equal(t, 21, s.Waiting)
	require.NoFileExists(t, path+".recovering")
	require.NoError(t, j.Close())
	require.Nil(t, openChecked(t, path, journal.Options{}).Damage())
}

// What the last build without a log left after a crash: the same events, and beside them when the
// ongoing ones were last known to go on.
func TestUpgradeOfAFileWithoutALog(t *testing.T) {
	path := sample.Path(t)
	require.NoError(t, os.WriteFile(path, unpacked(t, "form2.db.gz"), 0o600))
	require.NoError(t, os.WriteFile(path+".activity", unpacked(t, "form2.db.activity.gz"), 0o600))
	for range 2 {
		j, err := journal.Open(path, journal.Options{})
		require.NoError(t, err)
		require.Nil(t, j.Damage())
		requireForm1(t, j)
		open, err := j.Unfinished()
		require.NoError(t, err)
		for _, o := range open {
			require.Equal(t, 7*time.Second, o.Last.Sub(o.Event.StartTimestamp.Time))
		}
		require.NoFileExists(t, path+".activity")
		require.FileExists(t, path+file.LogSuffix)
		require.NoError(t, j.Close())
		require.NoFileExists(t, path+file.LogSuffix)
	}
}

// An old file with damage in it is set aside as any other.
func TestUpgradeOfADamagedFile(t *testing.T) {
	path := sample.Path(t)
	b := form1(t)
	b[sample.ValueOf(t, b, schema.Events)+200] ^= 4
	require.NoError(t, os.WriteFile(path, b, 0o600))
	j := openChecked(t, path, journal.Options{})
	require.NotNil(t, j.Damage())
	require.FileExists(t, j.Damage().Aside)
	require.GreaterOrEqual(t, j.Damage().Events, 59)
}
