package boltfile

import (
	"bytes"
	"encoding/binary"
	"hash/fnv"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	bolt "go.etcd.io/bbolt"
)

func image(t testing.TB) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.db")
	db, err := bolt.Open(path, 0o600, &bolt.Options{PageSize: 1024, NoSync: true})
	require.NoError(t, err)
	require.NoError(t, db.Update(func(tx *bolt.Tx) error {
		for _, name := range []string{"inline", "tree"} {
			b, err := tx.CreateBucket([]byte(name))
			if err != nil {
				return err
			}
			n := uint64(3)
			if name == "tree" {
				n = 500
			}
			for i := range n {
				if err := b.Put(binary.BigEndian.AppendUint64(nil, i),
					bytes.Repeat([]byte{byte(i)}, int(i%100))); err != nil {
					return err
				}
			}
			if err := b.SetSequence(n); err != nil {
				return err
			}
		}
		return nil
	}))
	require.NoError(t, db.Close())
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	return b
}

func TestWalk(t *testing.T) {
	b := image(t)
	f, err := New(bytes.NewReader(b), int64(len(b)))
	require.NoError(t, err)
	require.Equal(t, 2, f.Metas())
	require.Equal(t, 1024, f.Meta().PageSize)
	counts := map[string]int{}
	sequences, lost, err := f.Walk(func(bucket string, key, value []byte) error {
		i := binary.BigEndian.Uint64(key)
		require.Equal(t, bytes.Repeat([]byte{byte(i)}, int(i%100)), append([]byte{}, value...))
		counts[bucket]++
		return nil
	})
	require.NoError(t, err)
	require.Empty(t, lost)
	require.Equal(t, map[string]int{"inline": 3, "tree": 500}, counts)
	require.Equal(t, map[string]uint64{"inline": 3, "tree": 500}, sequences)
}

// TestEveryPageLost zeroes each page in turn: the walk goes on behind it, and says so.
func TestEveryPageLost(t *testing.T) {
	b := image(t)
	f, err := New(bytes.NewReader(b), int64(len(b)))
	require.NoError(t, err)
	for id := uint64(2); id < f.Meta().Pages; id++ {
		c := bytes.Clone(b)
		clear(c[id*1024 : (id+1)*1024])
		f, err := New(bytes.NewReader(c), int64(len(c)))
		require.NoError(t, err)
		n := 0
		_, lost, err := f.Walk(func(string, []byte, []byte) error { n++; return nil })
		require.NoError(t, err)
		inTree := n < 503
		if inTree {
			require.NotEmpty(t, lost, "page %d", id)
		}
	}
}

// FuzzWalk reads a file of any bytes, and one whose meta page leads into any bytes.
func FuzzWalk(f *testing.F) {
	b := image(f)
	f.Add(b)
	f.Add(b[:5000])
	f.Add(b[2048:6000])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		walk := func(b []byte) {
			file, _ := New(bytes.NewReader(b), int64(len(b)))
			n := 0
			visit := func(string, []byte, []byte) error { n++; return nil }
			if file.Metas() > 0 {
				_, _, err := file.Walk(visit)
				require.NoError(t, err)
			}
		}
		walk(b)
		const pageSize = 512
		meta := make([]byte, pageSize)
		le := binary.LittleEndian
		le.PutUint32(meta[16:], magic)
		le.PutUint32(meta[20:], version)
		le.PutUint32(meta[24:], pageSize)
		le.PutUint64(meta[32:], 2)
		le.PutUint64(meta[48:], 3)
		le.PutUint64(meta[56:], uint64(len(b)/pageSize+2))
		h := fnv.New64a()
		h.Write(meta[16:72])
		le.PutUint64(meta[72:], h.Sum64())
		walk(append(append(meta, meta...), b...))
	})
}
