package database_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/database"
	"vmsbridge/storage/guard"
)

var (
	people = []byte("people")
	visits = []byte("visits")
)

func options() database.Options {
	return database.Options{Name: "test file", Buckets: [][]byte{people, visits}, Copied: func(b string) bool {
		return b == "people"
	},
		Sound: func(_ string, _, v []byte) error {
			if !json.Valid(v) {
				return fmt.Errorf("it is no record")
			}
			return nil
		}, Patience: 50 * time.Millisecond, NoSync: true}
}

const population = 300

// fill makes a file with people, who are copied, and visits, who are not.
func fill(t testing.TB, path string) {
	t.Helper()
	d, err := database.Open(path, options())
	require.NoError(t, err)
	require.NoError(t, d.Update(func(tx *bolt.Tx) error {
		for i := range population {
			for _, name := range [][]byte{people, visits} {
				k := fmt.Appendf(nil, "%s-%03d", name, i)
				if err := tx.Bucket(name).Put(k, fmt.Appendf(nil, `{"id":"%s","text":"%0100d"}`, k, i)); err != nil {
					return err
				}
			}
		}
		return nil
	}))
	require.NoError(t, d.Close())
}

func count(t testing.TB, d *database.DB, bucket []byte) (n int) {
	t.Helper()
	require.NoError(t, d.View(func(tx *bolt.Tx) error {
		n = 0
		return tx.Bucket(bucket).ForEach(func(k, v []byte) error {
			n++
			require.Contains(t, string(v), fmt.Sprintf(`"id":"%s"`, k))
			return nil
		})
	}))
	return n
}

// TestAnyPageLost: whichever page is zeroed, and also all of them, the file opens, and nobody is
// lost.
func TestAnyPageLost(t *testing.T) {
	from := filepath.Join(t.TempDir(), "x.db")
	fill(t, from)
	whole, err := os.ReadFile(from)
	require.NoError(t, err)
	copied, err := os.ReadFile(from + database.CopySuffix)
	require.NoError(t, err)
	hurt := map[string][]byte{"all": make([]byte, len(whole)), "cut": whole[:len(whole)/2-100],
		"text": []byte("not a database"), "empty": {}, "gone": nil}
	for page := range len(whole) / 4096 {
		b := bytes.Clone(whole)
		clear(b[page*4096 : (page+1)*4096])
		hurt[fmt.Sprint("page ", page)] = b
	}
	lost := 0
	for name, b := range hurt {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.db")
			require.NoError(t, os.WriteFile(path+database.CopySuffix, copied, 0o600))
			if b != nil {
				require.NoError(t, os.WriteFile(path, b, 0o600))
			}
			d, err := database.Open(path, options())
			require.NoError(t, err)
			require.Equal(t, population, count(t, d, people))
			if n := count(t, d, visits); n < population {
				lost++
				require.Len(t, d.Damage(), 1, "what is lost is told")
				if b != nil {
					require.FileExists(t, d.Damage()[0].Aside)
				}
			}
			require.NoError(t, d.Update(func(tx *bolt.Tx) error { return tx.Bucket(visits).Put([]byte("new"), []byte(`{"id":"new"}`)) }))
			require.NoError(t, d.Close())
			h, err := database.Hold(path, options())
			require.NoError(t, err)
			r, err := h.Check()
			require.NoError(t, err)
			require.Empty(t, r.Problems)
			require.NoError(t, h.Close())
		})
	}
	require.Positive(t, lost)
}

// TestAFlippedBitInAClosedFile is found by the copy, which is believed.
func TestAFlippedBitInAClosedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	fill(t, path)
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	at := bytes.LastIndex(b, []byte(`"id":"people-007","text":"0000`)) // on the page in use
	b[at+len(`"id":"people-007","text":"`)] = '8'
	require.NoError(t, os.WriteFile(path, b, 0o600))
	h, err := database.Hold(path, options())
	require.NoError(t, err)
	r, err := h.Check()
	require.NoError(t, err)
	require.Equal(t, []string{`bucket "people": a record is not as in the copy`}, r.Problems)
	dam, err := h.Repair()
	require.NoError(t, err)
	require.Equal(t, 1, dam.Restored)
	require.NoError(t, h.Close())
	d, err := database.Open(path, options())
	require.NoError(t, err)
	defer d.Close()
	require.Empty(t, d.Damage())
	require.NoError(t, d.View(func(tx *bolt.Tx) error {
		require.Contains(t, string(tx.Bucket(people).Get([]byte("people-007"))), `"text":"0000`)
		return nil
	}))
}

// TestWhatWasDeletedStaysDeleted where nothing of its bucket is lost.
func TestWhatWasDeletedStaysDeleted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	fill(t, path)
	old, err := os.ReadFile(path + database.CopySuffix)
	require.NoError(t, err)
	d, err := database.Open(path, options())
	require.NoError(t, err)
	require.NoError(t, d.Update(func(tx *bolt.Tx) error { return tx.Bucket(people).Delete([]byte("people-000")) }))
	require.NoError(t, d.Close())
	require.NoError(t, os.WriteFile(path+database.CopySuffix, old, 0o600))
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	clear(b[bytes.Index(b, []byte("visits-000"))&^4095:][:4096])
	require.NoError(t, os.WriteFile(path, b, 0o600))
	d, err = database.Open(path, options())
	require.NoError(t, err)
	require.Equal(t, population-1, count(t, d, people))
	require.NoError(t, d.Close())
}

// TestDamageWhileItIsOpen: the page goes bad under the running program.
func TestDamageWhileItIsOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	fill(t, path)
	var told []database.Damage
	o := options()
	o.OnDamage = func(d database.Damage) { told = append(told, d) }
	d, err := database.Open(path, o)
	require.NoError(t, err)
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	info, err := f.Stat()
	require.NoError(t, err)
	for page := int64(2); page < info.Size()/4096; page++ {
		_, err = f.WriteAt(bytes.Repeat([]byte{0xa5}, 4096), page*4096)
		require.NoError(t, err)
	}
	require.NoError(t, f.Close())
	require.Equal(t, population, count(t, d, people))
	require.Len(t, told, 1)
	require.NoError(t, d.Update(func(tx *bolt.Tx) error { return tx.Bucket(people).Put([]byte("new"), []byte(`{"id":"new"}`)) }))
	require.Equal(t, population+1, count(t, d, people))
	require.NoError(t, d.Close())
	require.ErrorIs(t, d.View(func(*bolt.Tx) error { return nil }), database.ErrClosed)
}

// TestTheFolderIsGone: what is on no named file is not acknowledged.
func TestTheFolderIsGone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	require.NoError(t, os.Mkdir(dir, 0o700))
	path := filepath.Join(dir, "x.db")
	fill(t, path)
	d, err := database.Open(path, options())
	require.NoError(t, err)
	defer d.Close()
	require.NoError(t, d.InPlace())
	require.NoError(t, os.Rename(dir, dir+"-moved"))
	put := func() error {
		return d.Update(func(tx *bolt.Tx) error { return tx.Bucket(visits).Put([]byte("new"), []byte(`{"id":"new"}`)) })
	}
	require.ErrorIs(t, d.InPlace(), guard.ErrGone)
	require.ErrorIs(t, put(), guard.ErrGone)
	require.NoError(t, os.Rename(dir+"-moved", dir))
	require.NoError(t, put(), "it is back")
}

func TestLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	fill(t, path)
	d, err := database.Open(path, options())
	require.NoError(t, err)
	_, err = database.Open(path, options())
	require.ErrorIs(t, err, database.ErrLocked)
	_, err = database.Hold(path, options())
	require.ErrorIs(t, err, database.ErrLocked)
	require.NoError(t, d.Close())
	require.NoError(t, d.Close())
}

// TestRandomDamage hits the file, its copy or both, in every way, and opens it.
func TestRandomDamage(t *testing.T) {
	from := filepath.Join(t.TempDir(), "x.db")
	fill(t, from)
	rng := rand.New(rand.NewPCG(7, 7))
	for round := range 40 {
		dir := t.TempDir()
		path := filepath.Join(dir, "x.db")
		both := round%3 == 0
		for _, suffix := range []string{"", database.CopySuffix} {
			b, err := os.ReadFile(from + suffix)
			require.NoError(t, err)
			if both || (suffix == "") == (round%3 == 1) {
				for range 1 + rng.IntN(20) {
					b[rng.IntN(len(b))] ^= 1 << rng.IntN(8)
				}
			}
			require.NoError(t, os.WriteFile(path+suffix, b, 0o600))
		}
		d, err := database.Open(path, options())
		require.NoError(t, err, "round %d", round)
		require.NoError(t, d.View(func(tx *bolt.Tx) error {
			return tx.ForEach(func(_ []byte, b *bolt.Bucket) error {
				return b.ForEach(func(_, _ []byte) error { return nil })
			})
		}))
		require.NoError(t, d.Close())
		h, err := database.Hold(path, options())
		require.NoError(t, err)
		r, err := h.Check()
		require.NoError(t, err)
		require.Empty(t, r.Problems, "round %d", round)
		require.NoError(t, h.Close())
	}
}
