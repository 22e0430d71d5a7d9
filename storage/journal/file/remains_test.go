package file_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/journal/file"
	"vmsbridge/storage/journal/sample"
	"vmsbridge/storage/journal/schema"
)

const events, waiting = 200, 60

// twoHundred is a file of 200 events, of which the last 60 wait. The rest was acknowledged.
func twoHundred(t *testing.T) (path string) {
	t.Helper()
	path = sample.Path(t)
	db, err := bolt.Open(path, 0o600, &bolt.Options{NoSync: true})
	require.NoError(t, err)
	require.NoError(t, db.Update(schema.Create))
	require.NoError(t, db.Update(func(tx *bolt.Tx) (err error) {
		rows := schema.New(tx, nil)
		for i := range events {
			ev, value, sealed := schema.SealChecked(sample.Event(fmt.Sprint("cam", i), 0, time.Minute))
			sequence, queued := rows.Enqueue(ev, sample.Epoch)
			err = errors.Join(err, sealed, queued, rows.Store(ev, schema.WithSequence(value, sequence)))
			if i < events-waiting {
				key, _ := rows.Entry(ev.ID)
				err = errors.Join(err, rows.Remove(key, ev.ID))
			}
		}
		return errors.Join(err, rows.AddEvents(rows.Stored))
	}))
	require.NoError(t, db.Close())
	return path
}

// TestRemains: what is made of a damaged file is sound, holds what could be read, and counts what
// could not.
func TestRemains(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage func(b []byte)
		want   file.Account
	}{
		{"none", func([]byte) {}, file.Account{Events: events, Waiting: waiting}},
		{"a bit of an event", func(b []byte) { b[sample.ValueOf(t, b, schema.Events)+60] ^= 1 },
			file.Account{Events: events - 1, Waiting: waiting, DamagedValues: 1}},
		{"a bit of an entry", func(b []byte) { b[sample.ValueOf(t, b, schema.Outbox)+20] ^= 1 },
			file.Account{Events: events, Waiting: waiting, DamagedValues: 1, Requeued: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := twoHundred(t)
			b, err := os.ReadFile(path)
			require.NoError(t, err)
			c.damage(b)
			require.NoError(t, os.WriteFile(path, b, 0o600))
			to := filepath.Join(filepath.Dir(path), "new")
			got, _, err := file.Renew(path, to, sample.Epoch)
			require.NoError(t, err)
			require.Equal(t, c.want, got)
			r, err := file.CheckClosed(to)
			require.NoError(t, err)
			require.Empty(t, r.Problems)
			require.Equal(t, []int{got.Events, got.Waiting, got.Parked}, []int{r.Events, r.Waiting, r.Parked})
			after, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, b, after, "the damaged file stays as it is")
		})
	}
}

// TestRemainsOfAnOutbox: without the pages of the outbox, the events' own numbers tell which may
// wait.
func TestRemainsOfAnOutbox(t *testing.T) {
	path := twoHundred(t)
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	clear(b[sample.LeafOf(t, b, schema.Outbox):][:4096])
	require.NoError(t, os.WriteFile(path, b, 0o600))
	to := filepath.Join(filepath.Dir(path), "new")
	got, _, err := file.Renew(path, to, sample.Epoch)
	require.NoError(t, err)
	require.Equal(t, events, got.Events)
	require.Equal(t, waiting, got.Waiting, "all that waited, and none that the service has")
	require.Positive(t, got.LostPages)
	require.Positive(t, got.Requeued)
	r, err := file.CheckClosed(to)
	require.NoError(t, err)
	require.Empty(t, r.Problems)
}

func TestRemainsWhereTheyCannotGo(t *testing.T) {
	_, _, err := file.Renew(twoHundred(t), filepath.Join(t.TempDir(), "missing", "new"), sample.Epoch)
	require.ErrorIs(t, err, os.ErrNotExist)
}
