package file_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/guard"
	"vmsbridge/storage/journal/file"
	"vmsbridge/storage/journal/sample"
	"vmsbridge/storage/journal/schema"
	"vmsbridge/storage/vfs/witness"
)

// TestFaultThenCrash fails an operation of a short life, or all from one on for a while, and cuts
// the power at several later ones. The file then holds what it showed after the last change that
// was answered, or that and changes that were asked for since.
func TestFaultThenCrash(t *testing.T) {
	tried, made := 0, 0
	for seed := range uint64(110) {
		n, whole := faultThenCrash(t, seed)
		tried, made = tried+n, made+whole
	}
	t.Logf("%d of %d files could be made of what was beside them", made, tried)
	require.Greater(t, made, tried/2)
	// The file cannot take a change that was answered, and then the log not the next one: a
	// checkpoint of the file as it was would have lost the first.
	for _, seed := range []uint64{1795446819, 1795447518} {
		faultThenCrash(t, seed)
	}
	// A mark is read whose flush failed, and the file is changed as if the device had it: the state
	// that it has is written over, or a log that was taken away comes back.
	for _, seed := range []uint64{1795447001, 1795447111, 1795447531, 1795447845, 1795447937} {
		faultThenCrash(t, seed)
	}
}

// TestALogThatWasTakenAwayStaysAway: the flush of a new log's first mark fails, so the log is
// removed again, and the file is changed without one. A power cut brings the name back, with its
// mark.
func TestALogThatWasTakenAwayStaysAway(t *testing.T) {
	for seed := range uint64(12) {
		dir := sample.Folder(t)
		path, last := filepath.Join(dir, "journal.db"), 1+int(seed%3)
		var opened atomic.Bool
		var errs []error
		log, err := witness.Watch(dir, func(_ int, op witness.Op) int {
			if !opened.Load() && filepath.Base(op.Path) == "journal.db.log" &&
				(op.Kind == witness.Sync || op.Kind == witness.Write && op.Offset == 0) {
				return int(syscall.EIO)
			}
			return 0
		}, func(func(string)) {
			f, err := file.Open(path, late)
			errs = append(errs, err, f.Close())
			opened.Store(true)
			f, err = file.Open(path, file.Options{MaxBytes: 40 << 20}) // there is no log
			for n := 1; n <= last && err == nil; n++ {
				err = f.Do(func(tx *schema.Tx) error {
					value := schema.SealOwned(append(fmt.Appendf(nil, "%d ", n), make([]byte, 3000)...))
					return tx.Bucket(schema.Meta).Put([]byte("a"), value)
				})
			}
			errs = append(errs, err)
			t.Cleanup(func() { _ = f.Close() })
		})
		if errors.Is(err, witness.ErrUnsupported) {
			t.Skipf("%v: run outside of the sandbox, on Linux 5.19 or newer", err)
		}
		require.NoError(t, errors.Join(append(errs, err)...))
		to := sample.Folder(t)
		require.NoError(t, witness.Crash(log, dir, to, rand.New(rand.NewPCG(seed, 9))))
		f, err := file.Open(filepath.Join(to, "journal.db"), file.Options{})
		require.NoError(t, err)
		require.Nil(t, f.Damage(), "seed %d", seed)
		got, err := readRows(f)
		require.NoError(t, err)
		require.Equal(t, rowState{last}, got, "seed %d", seed)
		require.NoError(t, f.Close())
	}
}

const rows = 4

// rowState is the value of each row.
type rowState [rows]int

// rowLife is a life of a file with a few rows, which is the same for the same seed.
type rowLife struct {
	path string
	rng  *rand.Rand
	f    *file.File // nil: it is closed, or could not be opened
	opts file.Options
	rest []func()   // what is left of changes that were answered
	may  []rowState // what a crash may leave
	n    int

	// looks says whether it reads after each change.
	looks bool
	// failing says whether the disk may still fail.
	failing func() bool
}

func faultThenCrash(t *testing.T, seed uint64) (tried, made int) {
	dir := sample.Folder(t)
	l := &rowLife{path: filepath.Join(dir, "journal.db"), rng: rand.New(rand.NewPCG(seed, 7)), may: []rowState{{}}}
	rng := rand.New(rand.NewPCG(seed, 8)) // of the disk
	l.opts = file.Options{Careful: rng.IntN(2) == 0, CheckpointBytes: int64(16 << 10 << rng.IntN(3)),
		Beside: func(rest func()) { l.rest = append(l.rest, rest) }}
	if seed%4 == 0 {
		l.opts.MaxBytes = 40 << 20 // there is no log
	}
	errno := []syscall.Errno{syscall.EIO, syscall.ENOSPC}[rng.IntN(2)]
	what := []string{"", "journal.db", "journal.db.log", "sync", "segment"}[rng.IntN(5)]
	first := rng.IntN(map[string]int{"": 150, "journal.db": 90, "journal.db.log": 40, "sync": 40, "segment": 30}[what])
	last := first + []int{0, 0, 0, 1, 30}[rng.IntN(5)]
	where := fmt.Sprintf("seed %d, %v at operations %d to %d on %q", seed, errno, first, last, what)
	var seen, from atomic.Int64
	l.failing = func() bool { return seen.Load() > int64(first) && seen.Load() <= int64(last) }
	l.looks = rng.IntN(3) > 0
	var wrong []string
	var states [][]rowState // by mark
	log, err := witness.Watch(dir, func(n int, op witness.Op) int {
		if what != "" && filepath.Base(op.Path) != what && string(op.Kind) != what &&
			!strings.Contains(op.Path, ".db."+what) {
			return 0
		}
		k := int(seen.Add(1)) - 1
		if k < first || k > last {
			return 0
		}
		from.CompareAndSwap(0, int64(n))
		return int(errno)
	}, func(mark func(string)) {
		note := func() { states = append(states, slices.Clone(l.may)); mark("") }
		note()
		for range 16 {
			if err := l.step(note); err != nil {
				wrong = append(wrong, err.Error())
				break
			}
		}
		if l.f != nil {
			_ = l.f.Close()
		}
	})
	if errors.Is(err, witness.ErrUnsupported) {
		t.Skipf("%v: run outside of the sandbox, on Linux 5.19 or newer", err)
	}
	require.NoError(t, err, where)
	require.Empty(t, wrong, where)
	begin, end := int(from.Load())+rng.IntN(12), len(log)
	cuts := []int{max(end-rng.IntN(4), 0), end}
	for k := begin; k <= min(begin+100, end); k += 1 + rng.IntN(40) {
		cuts = append(cuts, k)
	}
	for i, k := range cuts {
		marks := 0
		for _, op := range log[:k] {
			if op.Kind == witness.Mark {
				marks++
			}
		}
		to := sample.Folder(t)
		require.NoError(t, witness.Crash(log[:k], dir, to, rng), where)
		at := fmt.Sprintf("%s, then a crash at operation %d of %d", where, k, len(log))
		if i%3 == 0 {
			tried++
			if rebuilt(t, filepath.Join(to, "journal.db"), states[max(marks-1, 0)], at) {
				made++
			}
		}
		f, err := file.Open(filepath.Join(to, "journal.db"), file.Options{})
		require.NoError(t, err, at)
		require.Nil(t, f.Damage(), at)
		got, err := readRows(f)
		require.NoError(t, err, at)
		require.Contains(t, states[max(marks-1, 0)], got, at)
		r, err := f.Check()
		require.NoError(t, err, at)
		require.Empty(t, r.Problems, at)
		require.NoError(t, f.Close())
	}
	return tried, made
}

// rebuilt makes a file of what is beside the one at path, if that has all, and looks at it. The
// crash is then one right before the new file gets its name.
func rebuilt(t *testing.T, path string, states []rowState, at string) bool {
	to := path + ".made"
	_, whole, err := file.Renew(path, to, sample.Epoch)
	require.NoError(t, err, at)
	if !whole {
		return false
	}
	f, err := file.Open(to, file.Options{MaxBytes: 40 << 20}) // it needs no log
	require.NoError(t, err, at)
	defer func() { require.NoError(t, f.Close()) }()
	require.Nil(t, f.Damage(), at)
	got, err := readRows(f)
	require.NoError(t, err, at)
	require.Contains(t, states, got, at)
	return true
}

// step does one thing. Its error is of what the file shows; changes may fail.
func (l *rowLife) step(note func()) (err error) {
	l.n++
	if l.f == nil {
		if l.f, err = file.Open(l.path, l.opts); err != nil {
			l.f = nil
			return nil
		}
	}
	switch n := l.rng.IntN(20); {
	case n < 13:
		return l.change(note)
	case n < 16:
		for _, rest := range l.rest {
			rest()
		}
		l.rest = nil
	case n < 17:
		_ = l.f.NoteActivity(map[string]int64{"none": int64(l.n)})
	case n < 18:
		_, _ = l.f.Compact(context.Background())
	default:
		for _, rest := range l.rest {
			rest()
		}
		l.rest = nil
		_ = l.f.Close()
		l.f = nil
	}
	return nil
}

// change changes a row. Once that is answered, what was asked for before is settled too.
func (l *rowLife) change(note func()) (wrong error) {
	row, value := l.rng.IntN(rows), append(fmt.Appendf(nil, "%d ", l.n), make([]byte, l.rng.IntN(9000))...)
	var with []rowState
	for _, s := range l.may {
		s[row] = l.n
		with = append(with, s)
	}
	for _, s := range with {
		if !slices.Contains(l.may, s) {
			l.may = append(l.may, s)
		}
	}
	note()
	err := l.f.Do(func(tx *schema.Tx) error {
		return tx.Bucket(schema.Meta).Put([]byte{'a' + byte(row)}, schema.SealOwned(value))
	})
	if err != nil {
		return nil
	}
	l.may = with
	defer note()
	if !l.looks {
		return nil
	}
	for range 2 { // the first read may be the one that meets the fault
		shown, err := readRows(l.f)
		if err == nil && slices.Contains(with, shown) {
			l.may = []rowState{shown}
			return nil
		}
		if !l.failing() {
			wrong = fmt.Errorf("change %d was answered, and the file shows %v (%v), not one of %v", l.n, shown, err,
				with)
		}
	}
	return wrong
}

func readRows(f *file.File) (s rowState, err error) {
	err = f.View(func(tx *bolt.Tx) error {
		for i := range s {
			v := guard.Bucket(tx, schema.Meta).Get([]byte{'a' + byte(i)})
			if v == nil {
				continue
			}
			b, err := schema.ReadOwned(v)
			if err == nil {
				_, err = fmt.Sscan(string(b), &s[i])
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	return s, err
}
