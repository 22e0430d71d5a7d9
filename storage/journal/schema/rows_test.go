package schema_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	bolt "go.etcd.io/bbolt"
	"pgregory.net/rapid"

	"vmsbridge/storage/guard"
	"vmsbridge/storage/journal/file"
	"vmsbridge/storage/journal/sample"
	"vmsbridge/storage/journal/schema"
)

// TestRowsHangTogether: whatever is done to the rows, in whatever order, a check finds nothing
// wrong, and a transaction's numbers add up to what the file holds.
func TestRowsHangTogether(t *testing.T) {
	sample.Lives(t, 40)
	dir, n := sample.Memory(t), 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		path := filepath.Join(dir, fmt.Sprint(n))
		db, err := bolt.Open(path, 0o600, &bolt.Options{NoSync: true})
		require.NoError(rt, err)
		defer db.Close()
		require.NoError(rt, db.Update(schema.Create))
		var events, waiting, parked int
		change := func(f func(t *schema.Tx) error) {
			require.NoError(rt, db.Update(func(tx *bolt.Tx) error {
				t := schema.New(tx, nil)
				if err := f(t); err != nil {
					return err
				}
				events, waiting, parked = events+t.Stored, waiting+t.Waiting, parked+t.Parked
				return t.AddEvents(t.Stored)
			}))
		}
		change(func(t *schema.Tx) error { return t.SetCursor(schema.CursorKey("one"), schema.Cursor{}) })
		draw := func(rt *rapid.T) string {
			return rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(rt, "actor")
		}
		id := func(actor string) string { return sample.Event(actor, 0, 0).ID }
		rt.Repeat(map[string]func(*rapid.T){
			"put": func(rt *rapid.T) {
				ev := sample.Event(draw(rt), 0, time.Duration(rapid.IntRange(0, 1e6).Draw(rt, "length"))*time.Second)
				if rapid.Bool().Draw(rt, "ongoing") {
					ev.EndTimestamp = nil
				}
				report := rapid.Bool().Draw(rt, "report")
				change(func(t *schema.Tx) error {
					ev, value, err := schema.SealChecked(ev)
					if err != nil {
						return err
					}
					if old, err := schema.ReadHead(t.Bucket(schema.Events).Get([]byte(ev.ID))); err == nil {
						if err := t.DropStale(ev.ID, old, schema.HeadOf(ev)); err != nil {
							return err
						}
					}
					var sequence uint64
					if report {
						if sequence, err = t.Enqueue(ev, sample.Epoch); err != nil {
							return err
						}
					}
					return errors.Join(t.Record(ev, sample.Epoch), t.Store(ev, schema.WithSequence(value, sequence)))
				})
			},
			"leave": func(rt *rapid.T) {
				id, park := id(draw(rt)), rapid.Bool().Draw(rt, "park")
				change(func(t *schema.Tx) error {
					key, entry := t.Entry(id)
					switch {
					case entry == nil:
						_, err := t.Unpark(id)
						return err
					case park:
						return t.Park(key, id, schema.ParkedEntry{Reason: "no", Since: entry.Since})
					}
					return t.Remove(key, id)
				})
			},
			"pass": func(rt *rapid.T) {
				by := rapid.Uint64Range(0, 3).Draw(rt, "by")
				change(func(t *schema.Tx) error {
					c, err := schema.CursorOf(t.Tx, schema.CursorKey("one"))
					if err != nil {
						return err
					}
					c.Place = min(c.Place+by, schema.LastChange(t.Tx))
					return errors.Join(t.SetCursor(schema.CursorKey("one"), c), t.Consume())
				})
			},
			"erase": func(rt *rapid.T) {
				id := id(draw(rt))
				change(func(t *schema.Tx) error {
					h, err := schema.ReadHead(t.Bucket(schema.Events).Get([]byte(id)))
					if err != nil || schema.Owed(t.Tx, []byte(id)) {
						return nil
					}
					return t.Erase(id, h)
				})
			},
			"": func(rt *rapid.T) {
				require.NoError(rt, db.View(func(tx *bolt.Tx) error {
					r, err := file.CheckOpen(tx, path, func() {}, nil)
					require.NoError(rt, err)
					require.Empty(rt, r.Problems)
					require.Equal(rt, []int{events, waiting, parked}, []int{r.Events, r.Waiting, r.Parked})
					require.Equal(rt, events, schema.Count(tx))
					require.Equal(rt, waiting, schema.Keys(guard.Bucket(tx, schema.Outbox)))
					return nil
				}))
			},
		})
	})
}

// Who asks for it is told of every key that changes, so that a copy of the file can follow.
func TestTxNotesWhatItWrites(t *testing.T) {
	db, err := bolt.Open(sample.Path(t), 0o600, &bolt.Options{NoSync: true})
	require.NoError(t, err)
	defer db.Close()
	require.NoError(t, db.Update(schema.Create))
	ev, value, err := schema.SealChecked(sample.Event("a", 0, sample.GoesOn))
	require.NoError(t, err)
	wrote := map[schema.Key]struct{}{}
	require.NoError(t, db.Update(func(tx *bolt.Tx) error { return schema.New(tx, wrote).Store(ev, value) }))
	var buckets []string
	for k := range wrote {
		buckets = append(buckets, k.Bucket)
	}
	slices.Sort(buckets)
	require.Equal(t, []string{"by-actor", "by-time", "by-type", "events", "ongoing"}, buckets)
}
