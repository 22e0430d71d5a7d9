package file_test

import (
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/guard"
	"vmsbridge/storage/journal/file"
	"vmsbridge/storage/journal/sample"
	"vmsbridge/storage/journal/schema"
)

// fiveEvents is a file of five events: the first three wait, the fourth is parked, the last goes
// on; a cursor has passed none of them.
func fiveEvents(t *testing.T) (path string) {
	t.Helper()
	path = sample.Path(t)
	write(t, path, func(tx *bolt.Tx) error {
		if err := schema.Create(tx); err != nil {
			return err
		}
		rows := schema.New(tx, nil)
		err := rows.SetCursor(schema.CursorKey("one"), schema.Cursor{})
		for i := range 5 {
			ev := sample.Event(fmt.Sprint("cam", i), 0, time.Minute)
			if i == 4 {
				ev.EndTimestamp = nil
			}
			ev, value, sealed := schema.SealChecked(ev)
			var sequence uint64
			if i < 4 {
				var queued error
				sequence, queued = rows.Enqueue(ev, sample.Epoch)
				err = errors.Join(err, queued)
			}
			err = errors.Join(err, sealed, rows.Record(ev, sample.Epoch),
				rows.Store(ev, schema.WithSequence(value, sequence)))
		}
		key, _ := rows.Entry(id(3))
		return errors.Join(err, rows.Park(key, id(3), schema.ParkedEntry{Reason: "no"}), rows.AddEvents(rows.Stored))
	})
	return path
}

func id(i int) string { return sample.Event(fmt.Sprint("cam", i), 0, 0).ID }

func write(t *testing.T, path string, f func(*bolt.Tx) error) {
	t.Helper()
	db, err := bolt.Open(path, 0o600, &bolt.Options{NoSync: true})
	require.NoError(t, err)
	require.NoError(t, db.Update(f))
	require.NoError(t, db.Close())
}

func TestCheckOfASoundFile(t *testing.T) {
	path := fiveEvents(t)
	r, err := file.CheckClosed(path)
	require.NoError(t, err)
	require.Empty(t, r.Problems)
	require.Equal(t, []int{5, 1, 3, 1}, []int{r.Events, r.Ongoing, r.Waiting, r.Parked})
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, info.Size(), r.Bytes)
	require.NoError(t, guard.Metas(path))
	db, _, err := guard.Open(path, &bolt.Options{})
	require.NoError(t, err)
	defer db.Close()
	require.NoError(t, db.View(func(tx *bolt.Tx) error {
		fresh, clean, err := file.FormOf(tx)
		require.NoError(t, err)
		require.False(t, fresh)
		require.False(t, clean, "nobody closed it in good order")
		return errors.Join(file.CheckOutbox(tx), file.CheckPages(tx))
	}))
}

// TestContradictions breaks one thing at a time, of which every value is readable, and looks for
// the sentence that names it.
func TestContradictions(t *testing.T) {
	first := func(tx *bolt.Tx, bucket []byte) []byte { k, _ := tx.Bucket(bucket).Cursor().First(); return k }
	for _, c := range []struct {
		name string
		harm func(tx *bolt.Tx) error
		want string
	}{
		{"an event is missing from an index", func(tx *bolt.Tx) error {
			return tx.Bucket(schema.ByTime).Delete(first(tx, schema.ByTime))
		}, `bucket "by-time" contradicts`},
		{"a listed event is missing", func(tx *bolt.Tx) error { return tx.Bucket(schema.Events).Delete([]byte(id(0))) }, `event "` + id(0) + `" is missing`},
		{"an ongoing event has no note", func(tx *bolt.Tx) error {
			return tx.Bucket(schema.Ongoing).Delete([]byte(id(4)))
		}, `bucket "ongoing" contradicts`},
		{"a note of nobody's", func(tx *bolt.Tx) error { return tx.Bucket(schema.Ongoing).Put([]byte("nobody"), schema.MSKey(1)) }, `bucket "ongoing" contradicts`},
		{"an entry's number is another", func(tx *bolt.Tx) error {
			return tx.Bucket(schema.OutboxID).Put([]byte(id(1)), schema.SequenceKey(77))
		}, "is not the one of"},
		{"an event waits and is parked", func(tx *bolt.Tx) error {
			v, err := (schema.ParkedEntry{Reason: "no"}).Seal()
			return errors.Join(err, tx.Bucket(schema.Parked).Put([]byte(id(1)), v))
		}, "both waits and is parked"},
		{"a parked event is missing", func(tx *bolt.Tx) error {
			v, err := (schema.ParkedEntry{Reason: "no"}).Seal()
			return errors.Join(err, tx.Bucket(schema.Parked).Put([]byte("nobody"), v))
		}, `parked "nobody": the event is missing`},
		{"a change has no note", func(tx *bolt.Tx) error { return tx.Bucket(schema.ChangesID).Delete([]byte(id(2))) }, `bucket "changes-id" contradicts`},
		{"the number of events is another", func(tx *bolt.Tx) error {
			return tx.Bucket(schema.Format).Put(schema.KeyCount, schema.SequenceKey(6))
		}, "there are 5 events"},
		{"a value has a wrong checksum", func(tx *bolt.Tx) error {
			v := append([]byte(nil), tx.Bucket(schema.Outbox).Get(first(tx, schema.Outbox))...)
			v[len(v)-1] ^= 1
			return tx.Bucket(schema.Outbox).Put(first(tx, schema.Outbox), v)
		}, "checksum differs"},
		{"a value stands in another's bucket", func(tx *bolt.Tx) error {
			return tx.Bucket(schema.Parked).Put([]byte(id(3)),
				append([]byte(nil), tx.Bucket(schema.Events).Get([]byte(id(3)))...))
		}, "tag 0x11, want 0x31"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := fiveEvents(t)
			write(t, path, c.harm)
			r, err := file.CheckClosed(path)
			require.NoError(t, err)
			require.Contains(t, fmt.Sprint(r.Problems), c.want)
		})
	}
}

func TestFilesThatAreNone(t *testing.T) {
	for _, c := range []struct {
		name string
		harm func(t *testing.T, path string)
		want string
	}{
		{"nothing", func(t *testing.T, path string) { require.NoError(t, os.Truncate(path, 0)) }, ""},
		{"cut in the middle of a page", func(t *testing.T, path string) {
			require.NoError(t, os.Truncate(path, 3*4096+7))
		}, "bytes of"},
		{"without a meta page", func(t *testing.T, path string) {
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			require.NoError(t, err)
			_, err = f.Write(make([]byte, 4096))
			require.NoError(t, errors.Join(err, f.Close()))
		}, "one of the two meta pages"},
		{"gone", func(t *testing.T, path string) { require.NoError(t, os.Remove(path)) }, "a recovery was cut off"},
		{"another database", func(t *testing.T, path string) {
			require.NoError(t, os.Remove(path))
			write(t, path, func(tx *bolt.Tx) error { _, err := tx.CreateBucket([]byte("other")); return err })
		}, "not a journal"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := fiveEvents(t)
			c.harm(t, path)
			r, err := file.CheckClosed(path)
			require.NoError(t, err)
			if c.want == "" {
				require.Empty(t, r.Problems)
				return
			}
			require.Len(t, r.Problems, 1)
			require.Contains(t, r.Problems[0], c.want)
		})
	}
	path := fiveEvents(t)
	write(t, path, func(tx *bolt.Tx) error {
		return tx.Bucket(schema.Format).Put(schema.KeyVersion, []byte{schema.VersionLogged + 1})
	})
	_, err := file.CheckClosed(path)
	require.ErrorIs(t, err, schema.ErrNewer)
}
