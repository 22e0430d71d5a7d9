package file_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/journal/file"
	"vmsbridge/storage/journal/sample"
	"vmsbridge/storage/journal/schema"
)

// TestAnOlderFormDoesNotComeBack: events go on, then end, then some are removed, as the file of a
// service has them. Each page in turn that holds an ended form is lost: what a page outside of the
// tree still has of the event gets its end, and what was removed stays removed.
func TestAnOlderFormDoesNotComeBack(t *testing.T) {
	from := sample.Path(t)
	db, err := bolt.Open(from, 0o600, &bolt.Options{NoSync: true})
	require.NoError(t, err)
	require.NoError(t, db.Update(schema.Create))
	ends := map[string]time.Time{}
	for step, ended := range []bool{false, true} {
		require.NoError(t, db.Update(func(tx *bolt.Tx) (err error) {
			rows := schema.New(tx, nil)
			for i := range 60 {
				ev := sample.Event(fmt.Sprint("cam", i), 0, time.Minute)
				if !ended {
					ev.EndTimestamp = nil
				}
				ends[ev.ID] = sample.Epoch.Add(time.Minute)
				ev, value, sealed := schema.SealChecked(ev)
				if old, err := schema.ReadHead(rows.Bucket(schema.Events).Get([]byte(ev.ID))); err == nil {
					if err := rows.DropStale(ev.ID, old, schema.HeadOf(ev)); err != nil {
						return err
					}
				}
				err = errors.Join(err, sealed, rows.Store(ev, value))
			}
			return errors.Join(err, rows.AddEvents(rows.Stored))
		}), step)
	}
	removed := sample.Event("cam7", 0, time.Minute)
	require.NoError(t, db.Update(func(tx *bolt.Tx) error {
		rows := schema.New(tx, nil)
		h, err := schema.ReadHead(rows.Bucket(schema.Events).Get([]byte(removed.ID)))
		return errors.Join(err, rows.Erase(removed.ID, h), rows.AddEvents(rows.Stored))
	}))
	require.NoError(t, db.Close())
	whole, err := os.ReadFile(from)
	require.NoError(t, err)
	rounds, patched := 0, 0
	for page := 2; page < len(whole)/4096; page++ {
		if !bytes.Contains(whole[page*4096:][:4096], []byte(`"endTimestamp":"2`)) {
			continue
		}
		rounds++
		b := bytes.Clone(whole)
		clear(b[page*4096:][:4096])
		damaged, mended := sample.Path(t), sample.Path(t)
		require.NoError(t, os.WriteFile(damaged, b, 0o600))
		account, err := file.Salvage(damaged, mended, time.Now())
		require.NoError(t, err)
		patched += account.Stray
		db, err := bolt.Open(mended, 0o600, nil)
		require.NoError(t, err)
		require.NoError(t, db.View(func(tx *bolt.Tx) error {
			require.Zero(t, tx.Bucket(schema.Ongoing).Stats().KeyN, "page %d", page)
			require.Nil(t, tx.Bucket(schema.Events).Get([]byte(removed.ID)), "page %d", page)
			return tx.Bucket(schema.Events).ForEach(func(k, v []byte) error {
				ev, _, err := schema.ReadEvent(k, v)
				require.NoError(t, err)
				require.NotNil(t, ev.EndTimestamp, "page %d", page)
				require.True(t, ev.EndTimestamp.Equal(ends[ev.ID]), "page %d", page)
				return nil
			})
		}))
		require.NoError(t, db.Close())
	}
	require.Positive(t, rounds)
	require.Positive(t, patched, "something came from outside of the tree")
}
