package database_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/database"
	"vmsbridge/storage/vfs/witness"
)

// TestFaultThenCrash fails a flush or a write of a short life, or some in a row, and cuts the power
// at each later operation. The file is then whole, and holds what was promised last, or that and a
// change that was asked for since.
func TestFaultThenCrash(t *testing.T) {
	for k := range 20 {
		for _, kind := range []witness.Kind{witness.Sync, witness.Write} {
			faultThenCrash(t, kind, k, k%3*2)
		}
	}
}

// visitors is what the test's file says of each person.
type visitors [3]int

func faultThenCrash(t *testing.T, kind witness.Kind, first, more int) {
	dir, err := os.MkdirTemp("/dev/shm", "database-test-")
	if err != nil {
		dir = t.TempDir()
	}
	defer func() { require.NoError(t, os.RemoveAll(dir)) }()
	from := filepath.Join(dir, "from")
	require.NoError(t, os.Mkdir(from, 0o700))
	where := fmt.Sprintf("%s %d and %d more fail", kind, first, more)
	opts := options()
	opts.NoSync = false
	path := filepath.Join(from, "x.db")
	rng := rand.New(rand.NewPCG(uint64(first), uint64(more)))
	may := []visitors{{}} // what the file may say after a crash
	var states [][]visitors
	var seen, failed atomic.Int64
	log, err := witness.Watch(from, func(n int, op witness.Op) int {
		if op.Kind != kind || filepath.Base(op.Path) != "x.db" {
			return 0
		}
		if at := int(seen.Add(1)) - 1; at < first || at > first+more {
			return 0
		}
		failed.CompareAndSwap(0, int64(n))
		return int(syscall.EIO)
	}, func(mark func(string)) {
		note := func() { states = append(states, slices.Clone(may)); mark("") }
		note()
		var d *database.DB
		for n := 1; n <= 12; n++ {
			if d == nil {
				if d, err = database.Open(path, opts); err != nil {
					continue
				}
			}
			who := rng.IntN(len(visitors{}))
			for _, v := range slices.Clone(may) {
				v[who] = n
				may = append(may, v)
			}
			note()
			err := d.Update(func(tx *bolt.Tx) error {
				text := fmt.Sprintf(`{"n":%d,"text":"%0*d"}`, n, rng.IntN(9000), 0)
				return tx.Bucket(visits).Put([]byte{'a' + byte(who)}, []byte(text))
			})
			if err == nil {
				may = slices.DeleteFunc(may, func(v visitors) bool { return v[who] != n })
				note()
			}
			if n%7 == 0 {
				_ = d.Close()
				d = nil
			}
		}
		if d != nil {
			_ = d.Close()
		}
	})
	if errors.Is(err, witness.ErrUnsupported) {
		t.Skipf("%v: run outside of the sandbox, on Linux 5.19 or newer", err)
	}
	require.NoError(t, err, where)
	for k := int(failed.Load()); k <= len(log) && failed.Load() > 0; k += 1 + rng.IntN(4) {
		to := filepath.Join(dir, fmt.Sprint("to", k))
		require.NoError(t, os.Mkdir(to, 0o700))
		require.NoError(t, witness.Crash(log[:k], from, to, rng), where)
		marks := 0
		for _, op := range log[:k] {
			if op.Kind == witness.Mark {
				marks++
			}
		}
		at := fmt.Sprintf("%s, then a crash at operation %d of %d", where, k, len(log))
		d, err := database.Open(filepath.Join(to, "x.db"), options())
		require.NoError(t, err, at)
		require.Empty(t, d.Damage(), at)
		var got visitors
		require.NoError(t, d.View(func(tx *bolt.Tx) error {
			for who := range got {
				if v := tx.Bucket(visits).Get([]byte{'a' + byte(who)}); v != nil {
					if _, err := fmt.Sscanf(string(v), `{"n":%d,`, &got[who]); err != nil {
						return err
					}
				}
			}
			return nil
		}), at)
		require.Contains(t, states[max(marks-1, 0)], got, at)
		require.NoError(t, d.Close())
		require.NoError(t, os.RemoveAll(to))
	}
}
