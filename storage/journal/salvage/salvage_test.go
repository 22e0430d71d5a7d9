package salvage_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/journal/audit"
	"vmsbridge/storage/journal/form"
	"vmsbridge/storage/journal/salvage"
	"vmsbridge/storage/journal/sample"
	"vmsbridge/storage/journal/table"
)

const events, waiting = 200, 60

// made is a file of 200 events, of which the last 60 wait. The rest was acknowledged.
func made(t *testing.T) (path string) {
	t.Helper()
	path = sample.Path(t)
	db, err := bolt.Open(path, 0o600, &bolt.Options{NoSync: true})
	require.NoError(t, err)
	require.NoError(t, db.Update(table.Create))
	require.NoError(t, db.Update(func(tx *bolt.Tx) (err error) {
		rows := table.New(tx, nil)
		for i := range events {
			ev, value, sealed := form.SealChecked(sample.Event(fmt.Sprint("cam", i), 0, time.Minute))
			sequence, queued := rows.Enqueue(ev, sample.Epoch)
			err = errors.Join(err, sealed, queued, rows.Store(ev, form.WithSequence(value, sequence)))
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

// TestSalvage: what is made of a damaged file is sound, holds what could be read, and counts what
// could not.
func TestSalvage(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage func(b []byte)
		want   salvage.Account
	}{
		{"none", func([]byte) {}, salvage.Account{Events: events, Waiting: waiting}},
		{"a bit of an event", func(b []byte) { b[sample.ValueOf(t, b, form.Events)+60] ^= 1 },
			salvage.Account{Events: events - 1, Waiting: waiting, DamagedValues: 1}},
		{"a bit of an entry", func(b []byte) { b[sample.ValueOf(t, b, form.Outbox)+20] ^= 1 },
			salvage.Account{Events: events, Waiting: waiting, DamagedValues: 1, Requeued: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := made(t)
			b, err := os.ReadFile(path)
			require.NoError(t, err)
			c.damage(b)
			require.NoError(t, os.WriteFile(path, b, 0o600))
			to := filepath.Join(filepath.Dir(path), "new")
			got, err := salvage.File(path, to, sample.Epoch)
			require.NoError(t, err)
			require.Equal(t, c.want, got)
			r, err := audit.Closed(to)
			require.NoError(t, err)
			require.Empty(t, r.Problems)
			require.Equal(t, []int{got.Events, got.Waiting, got.Parked}, []int{r.Events, r.Waiting, r.Parked})
			after, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, b, after, "the damaged file stays as it is")
		})
	}
}

// TestSalvageOfALostOutbox: without the pages of the outbox, the events' own numbers tell which may
// wait.
func TestSalvageOfALostOutbox(t *testing.T) {
	path := made(t)
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	clear(b[sample.LeafOf(t, b, form.Outbox):][:4096])
	require.NoError(t, os.WriteFile(path, b, 0o600))
	to := filepath.Join(filepath.Dir(path), "new")
	got, err := salvage.File(path, to, sample.Epoch)
	require.NoError(t, err)
	require.Equal(t, events, got.Events)
	require.Equal(t, waiting, got.Waiting, "all that waited, and none that the service has")
	require.Positive(t, got.LostPages)
	require.Positive(t, got.Requeued)
	r, err := audit.Closed(to)
	require.NoError(t, err)
	require.Empty(t, r.Problems)
}

func TestSalvageWhereItCannot(t *testing.T) {
	_, err := salvage.File(made(t), filepath.Join(t.TempDir(), "missing", "new"), sample.Epoch)
	require.ErrorIs(t, err, os.ErrNotExist)
}
