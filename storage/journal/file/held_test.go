package file_test

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/journal"
	"vmsbridge/storage/journal/file"
	"vmsbridge/storage/journal/sample"
	"vmsbridge/storage/journal/schema"
)

func hold(t *testing.T, path string) *file.Held {
	t.Helper()
	h, err := file.Hold(path, time.Second)
	require.NoError(t, err)
	t.Cleanup(func() { _ = h.Close() })
	return h
}

func TestHeldJournal(t *testing.T) {
	path := sample.Path(t)
	_, err := file.Hold(path, time.Millisecond)
	require.ErrorIs(t, err, os.ErrNotExist)
	fill(t, path, true)
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	h := hold(t, path)
	r, err := h.Check()
	require.NoError(t, err)
	require.Empty(t, r.Problems)
	require.Equal(t, []int{400, 8, 100, 5}, []int{r.Events, r.Ongoing, r.Waiting, r.Parked})
	d, err := h.Repair(file.Options{})
	require.NoError(t, err)
	require.Nil(t, d, "there is nothing to repair")
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, before, after, "looking changes nothing")
	_, err = journal.Open(path, journal.Options{LockTimeout: time.Millisecond})
	require.ErrorIs(t, err, journal.ErrLocked, "nobody starts on it meanwhile")
	require.NoError(t, h.Close())

	j := openChecked(t, path, journal.Options{})
	_, err = file.Hold(path, time.Millisecond)
	require.ErrorIs(t, err, journal.ErrLocked)
	require.NoError(t, j.Close())
}

func TestRepairOfAHeldJournal(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage func(t *testing.T, path string)
		events int
	}{
		{"flipped bit in an event of a journal closed in good order", func(t *testing.T, path string) {
			b, err := os.ReadFile(path)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(path, flip(sample.ValueOf(t, b, schema.Events)+200)(t, b), 0o600))
		}, 399},
		{"meta page", func(t *testing.T, path string) {
			b, err := os.ReadFile(path)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(path, zero(0, 4096)(t, b), 0o600))
		}, 400},
		{"event missing from an index, its place taken by one of another", func(t *testing.T, path string) {
			db, err := bolt.Open(path, 0o600, nil)
			require.NoError(t, err)
			require.NoError(t, db.Update(func(tx *bolt.Tx) error {
				k, v := tx.Bucket(schema.ByTime).Cursor().First()
				v = append([]byte(nil), v...)
				k2 := append([]byte(nil), k...)
				if err := tx.Bucket(schema.ByTime).Delete(k); err != nil {
					return err
				}
				k2[len(k2)-1] ^= 1
				return tx.Bucket(schema.ByTime).Put(k2, v)
			}))
			require.NoError(t, db.Close())
		}, 400},
		{"parked entry without its event", func(t *testing.T, path string) {
			db, err := bolt.Open(path, 0o600, nil)
			require.NoError(t, err)
			require.NoError(t, db.Update(func(tx *bolt.Tx) error {
				v, err := (schema.ParkedEntry{Reason: "x"}).Seal()
				require.NoError(t, err)
				return tx.Bucket(schema.Parked).Put([]byte("nobody"), v)
			}))
			require.NoError(t, db.Close())
		}, 400},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := sample.Path(t)
			fill(t, path, true)
			c.damage(t, path)
			h := hold(t, path)
			r, err := h.Check()
			require.NoError(t, err)
			require.NotEmpty(t, r.Problems)
			d, err := h.Repair(file.Options{})
			require.NoError(t, err)
			require.NotNil(t, d)
			require.Equal(t, []string{d.Aside}, h.Aside())
			require.GreaterOrEqual(t, d.Events, c.events)
			r, err = h.Check()
			require.NoError(t, err)
			require.Empty(t, r.Problems)
		})
	}
}

func TestHeldJournalOfAnOtherForm(t *testing.T) {
	for form, want := range map[byte]error{1: journal.ErrOlder, 99: journal.ErrNewer} {
		path := sample.Path(t)
		j := openChecked(t, path, journal.Options{})
		require.NoError(t, j.Close())
		ofForm(t, path, form)
		_, err := hold(t, path).Check()
		require.ErrorIs(t, err, want)
	}
}
