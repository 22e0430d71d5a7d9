package postgres

import (
	"bytes"
	"encoding/binary"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"vmsbridge/storage/database"
	"vmsbridge/storage/journal/sample"
)

// makings are all that keep records: what holds for one holds for the other.
func makings(t *testing.T, test func(*testing.T, database.Store)) {
	t.Run("file", func(t *testing.T) {
		db, err := database.Open(filepath.Join(t.TempDir(), "records.db"),
			database.Options{Name: "records", NoSync: true})
		require.NoError(t, err)
		s := database.InFile(db)
		t.Cleanup(func() { require.NoError(t, s.Close()) })
		test(t, s)
	})
	t.Run("postgres", func(t *testing.T) {
		db, _ := open(t)
		test(t, db.Records("test"))
	})
}

var errUndo = errors.New("undo")

// Whole lives of both beside a map.
func TestRecordsAgainstModel(t *testing.T) {
	sample.Lives(t, 20)
	makings(t, func(t *testing.T, s database.Store) {
		rapid.Check(t, func(t *rapid.T) {
			model := map[string]map[string]string{}
			require.NoError(t, s.Update(func(tx database.Tx) error {
				for _, name := range []string{"a", "b"} {
					model[name] = map[string]string{}
					b := tx.Bucket(name)
					var keys [][]byte
					for k := range b.Range(nil, nil) {
						keys = append(keys, bytes.Clone(k))
					}
					for _, k := range keys {
						if err := b.Delete(k); err != nil {
							return err
						}
					}
				}
				return nil
			}))
			for range rapid.IntRange(1, 6).Draw(t, "transactions") {
				life(t, s, model)
			}
		})
	})
}

func life(t *rapid.T, s database.Store, model map[string]map[string]string) {
	undo := rapid.Bool().Draw(t, "undo")
	next := map[string]map[string]string{"a": maps.Clone(model["a"]), "b": maps.Clone(model["b"])}
	// What is drawn must not depend on how often the function runs.
	type step struct {
		bucket, verb string
		key, value   []byte
	}
	steps := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
		return step{rapid.SampledFrom([]string{"a", "b"}).Draw(t, "bucket"),
			rapid.SampledFrom([]string{"put", "put", "delete"}).Draw(t, "verb"),
			someKey.Draw(t, "key"), rapid.SliceOfN(rapid.Byte(), 0, 3).Draw(t, "value")}
	}), 0, 30).Draw(t, "steps")
	err := s.Update(func(tx database.Tx) error {
		for _, x := range steps {
			b := tx.Bucket(x.bucket)
			if x.verb == "put" {
				if err := b.Put(x.key, x.value); err != nil {
					return err
				}
			} else if err := b.Delete(x.key); err != nil {
				return err
			}
		}
		if undo {
			return errUndo
		}
		return nil
	})
	for _, x := range steps {
		if x.verb == "put" {
			next[x.bucket][string(x.key)] = string(x.value)
		} else {
			delete(next[x.bucket], string(x.key))
		}
	}
	if undo {
		require.ErrorIs(t, err, errUndo)
	} else {
		require.NoError(t, err)
		maps.Copy(model, next)
	}
	from, to := bound(t, "from"), bound(t, "to")
	require.NoError(t, s.View(func(tx database.Tx) error {
		for name, want := range model {
			b := tx.Bucket(name)
			for _, x := range steps {
				v, ok := want[string(x.key)]
				got := b.Get(x.key)
				require.Equal(t, ok, got != nil)
				require.Equal(t, v, string(got))
			}
			keys := slices.Sorted(maps.Keys(want))
			keys = slices.DeleteFunc(keys, func(k string) bool {
				return k < string(from) || to != nil && k >= string(to)
			})
			var up, down []string
			for k, v := range b.Range(from, to) {
				require.Equal(t, want[string(k)], string(v))
				up = append(up, string(k))
			}
			for k, v := range b.Backward(from, to) {
				require.Equal(t, want[string(k)], string(v))
				down = append(down, string(k))
			}
			slices.Reverse(down)
			require.True(t, slices.Equal(keys, up), "%q is not %q", up, keys)
			require.True(t, slices.Equal(keys, down), "backward %q is not %q", down, keys)
		}
		require.Nil(t, tx.Bucket("nothing was put into this one").Get([]byte("k")))
		return nil
	}))
}

// someKey is one of few, with the bytes that are hard: zero, the highest, one the beginning of
// another.
var someKey = rapid.SliceOfN(rapid.SampledFrom([]byte{0, 'a', 0xff}), 1, 3)

func bound(t *rapid.T, label string) []byte {
	if rapid.Bool().Draw(t, label+" is open") {
		return nil
	}
	return someKey.Draw(t, label)
}

// A range of more than one look is read whole, in order, in both directions.
func TestRecordsOfALongRange(t *testing.T) {
	makings(t, func(t *testing.T, s database.Store) {
		const n = firstLook + 2*nextLook + 7
		require.NoError(t, s.Update(func(tx database.Tx) error {
			for i := range n {
				key := binary.BigEndian.AppendUint32([]byte("p"), uint32(i))
				if err := tx.Bucket("long").Put(key, nil); err != nil {
					return err
				}
			}
			return errors.Join(tx.Bucket("long").Put([]byte("o"), nil), tx.Bucket("long").Put([]byte("q"), nil))
		}))
		require.NoError(t, s.View(func(tx database.Tx) error {
			i := 0
			for k := range tx.Bucket("long").Range(database.Prefix([]byte("p"))) {
				require.Equal(t, uint32(i), binary.BigEndian.Uint32(k[1:]))
				i++
			}
			require.Equal(t, n, i)
			for k := range tx.Bucket("long").Backward(database.Prefix([]byte("p"))) {
				i--
				require.Equal(t, uint32(i), binary.BigEndian.Uint32(k[1:]))
			}
			require.Zero(t, i)
			return nil
		}))
	})
}

// Of many who add to one counter at once none is lost, and no number is given twice.
func TestRecordsAtOnce(t *testing.T) {
	makings(t, func(t *testing.T, s database.Store) {
		const each, writers = 10, 6
		given := make(chan uint64, each*writers)
		var all sync.WaitGroup
		for range writers {
			all.Go(func() {
				for range each {
					var seq uint64
					err := s.Update(func(tx database.Tx) (err error) {
						b := tx.Bucket("count")
						n := uint64(0)
						if raw := b.Get([]byte("n")); raw != nil {
							n = binary.BigEndian.Uint64(raw)
						}
						if seq, err = b.NextSequence(); err != nil {
							return err
						}
						return b.Put([]byte("n"), binary.BigEndian.AppendUint64(nil, n+1))
					})
					if err != nil {
						t.Error(err)
						return
					}
					given <- seq
				}
			})
		}
		all.Wait()
		close(given)
		seen := map[uint64]bool{}
		for seq := range given {
			require.False(t, seen[seq], "%d was given twice", seq)
			seen[seq] = true
		}
		require.NoError(t, s.View(func(tx database.Tx) error {
			require.Equal(t, uint64(each*writers), binary.BigEndian.Uint64(tx.Bucket("count").Get([]byte("n"))))
			return nil
		}))
	})
}

// Two that each look at what the other changes do not both succeed on what was so before: the last
// one of two accounts' superusers is not removed by both at once.
func TestRecordsKeepWhatTwoLookAt(t *testing.T) {
	makings(t, func(t *testing.T, s database.Store) {
		for range 10 {
			require.NoError(t, s.Update(func(tx database.Tx) error {
				return errors.Join(tx.Bucket("who").Put([]byte("1"), nil), tx.Bucket("who").Put([]byte("2"), nil))
			}))
			var both sync.WaitGroup
			for _, mine := range []string{"1", "2"} {
				both.Go(func() {
					err := s.Update(func(tx database.Tx) error {
						n := 0
						for range tx.Bucket("who").Range(nil, nil) {
							n++
						}
						if n < 2 {
							return errUndo
						}
						return tx.Bucket("who").Delete([]byte(mine))
					})
					if err != nil && !errors.Is(err, errUndo) {
						t.Error(err)
					}
				})
			}
			both.Wait()
			n := 0
			require.NoError(t, s.View(func(tx database.Tx) error {
				n = 0
				for range tx.Bucket("who").Range(nil, nil) {
					n++
				}
				return nil
			}))
			require.Equal(t, 1, n)
		}
	})
}

// Bad keys are refused, and records of two names are apart.
func TestRecordsApart(t *testing.T) {
	db, _ := open(t)
	require.ErrorContains(t, db.Records("a").Update(func(tx database.Tx) error {
		return tx.Bucket("b").Put(nil, nil)
	}), "key has 0 bytes")
	require.NoError(t, putOne(db.Records("a"), "k"))
	require.NoError(t, db.Records("c").View(func(tx database.Tx) error {
		require.Nil(t, tx.Bucket("b").Get([]byte("k")))
		return nil
	}))
}

// The names of buckets, and numbers that go on behind those of another place.
func TestRecordsOfAnotherPlace(t *testing.T) {
	makings(t, func(t *testing.T, s database.Store) {
		var next uint64
		require.NoError(t, s.Update(func(tx database.Tx) (err error) {
			if err := tx.Bucket("numbers").SetSequence(41); err != nil {
				return err
			}
			if err := tx.Bucket("records").Put([]byte("k"), nil); err != nil {
				return err
			}
			next, err = tx.Bucket("numbers").NextSequence()
			return err
		}))
		require.Equal(t, uint64(42), next)
		require.NoError(t, s.View(func(tx database.Tx) error {
			require.Equal(t, []string{"numbers", "records"}, tx.Buckets())
			require.Equal(t, uint64(42), tx.Bucket("numbers").Sequence())
			require.Zero(t, tx.Bucket("records").Sequence())
			require.Zero(t, tx.Bucket("none").Sequence())
			return nil
		}))
	})
}
