package journal

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/journal/sample"
	"vmsbridge/storage/journal/schema"
	"vmsbridge/storage/vfs/witness"
)

func (s *scenario) context() context.Context { return context.Background() }

// history is what a scenario did to the disk, and what the journal held after each step.
type history struct {
	dir    string
	log    []witness.Op
	states []string // by mark
	steps  []string
}

func watchOrSkip(t *testing.T, dir string, fault witness.Fault, f func(mark func(string))) []witness.Op {
	t.Helper()
	log, err := witness.Watch(dir, fault, f)
	if errors.Is(err, witness.ErrUnsupported) {
		t.Skipf("%v: run outside of the sandbox, on Linux 5.19 or newer", err)
	}
	require.NoError(t, err)
	return log
}

func live(t *testing.T, seed uint64, steps int) history {
	h := history{dir: sample.Folder(t)}
	s := newScenario(filepath.Join(h.dir, "journal.db"), seed)
	var failed error
	h.log = watchOrSkip(t, h.dir, nil, func(mark func(string)) {
		if failed = s.open(); failed != nil {
			return
		}
		for i := range steps + 1 {
			what := "open"
			if i > 0 {
				what, failed = s.step()
			}
			if failed != nil {
				failed = fmt.Errorf("%s: %w", what, failed)
				return
			}
			h.steps, h.states = append(h.steps, what), append(h.states, dump(t, s.j))
			mark(what)
		}
		failed = s.j.Close()
	})
	require.NoError(t, failed)
	return h
}

// TestCrashAtEveryOperation: whatever operation the power goes at, and whatever the disk kept of
// what was not synced, the journal opens undamaged, and holds exactly what it held after the last
// step that had returned, or after the next.
func TestCrashAtEveryOperation(t *testing.T) { crashEverywhere(t, 0, 16) }

func crashEverywhere(t *testing.T, seed uint64, steps int) {
	h := live(t, seed, steps)
	rng := rand.New(rand.NewPCG(seed, 2))
	done, tried := 0, 0
	for k := range len(h.log) + 1 {
		if k > 0 && h.log[k-1].Kind == witness.Mark {
			done++
		}
		for range 1 + rng.IntN(2) {
			h.crash(t, k, done, rng, fmt.Sprintf("seed %d, operation %d of %d", seed, k, len(h.log)))
			tried++
		}
	}
	t.Logf("seed %d: %d operations in %d steps, %d states of the disk after a crash", seed, len(h.log), len(h.steps),
		tried)
}

func (h history) crash(t *testing.T, k, done int, rng *rand.Rand, where string) {
	dir := sample.Folder(t)
	require.NoError(t, witness.Crash(h.log[:k], h.dir, dir, rng), where)
	j, err := Open(filepath.Join(dir, "journal.db"), Options{})
	require.NoError(t, err, where)
	defer j.Close()
	require.Nil(t, j.Damage(), where)
	r, err := j.Check()
	require.NoError(t, err, where)
	require.Empty(t, r.Problems, where)
	got := dump(t, j)
	var want []string
	if done == 0 {
		want = h.states[:1]
	} else {
		want = h.states[done-1 : min(done+1, len(h.states))]
	}
	if !slices.Contains(want, got) {
		t.Fatalf("%s, after %q: the journal holds\n%s\nand should hold\n%s", where, h.steps[max(done-1, 0)],
			shortened(got, 4000), shortened(want[0], 4000))
	}
}

// TestCrashAtTheFirstStart: whatever a power cut leaves of a file that is being made, nothing was
// lost, and nothing is said to be.
func TestCrashAtTheFirstStart(t *testing.T) {
	h := live(t, 0, 0)
	rng := rand.New(rand.NewPCG(1, 2))
	for k := range len(h.log) + 1 {
		for range 12 {
			done := 0
			if k == len(h.log) {
				done = 1
			}
			h.crash(t, k, done, rng, fmt.Sprintf("operation %d of %d", k, len(h.log)))
		}
	}
}

// TestTorture goes on for TORTURE_FOR with longer lives, each from a seed of its own:
// scripts/torture journal.
func TestTorture(t *testing.T) {
	sample.Torture(t, func(t *testing.T, seed uint64) {
		crashEverywhere(t, seed, 20+int(seed%80))
		failEverywhere(t, seed, 14+int(seed%26), 1+int(seed%3))
		require.NoError(t, flag.Set("rapid.seed", strconv.FormatUint(seed, 10)))
		compareLives(t, 20)
	})
}

// TestCrashAtEveryOperationOfARecovery: whatever operation of a recovery the power goes at, the
// journal opens, and nothing is lost that the damage did not hit.
func TestCrashAtEveryOperationOfARecovery(t *testing.T) {
	const events = 60
	dir := sample.Folder(t)
	path := filepath.Join(dir, "journal.db")
	damaged, left, found := 0, 0, false
	var failed error
	log := watchOrSkip(t, dir, nil, func(mark func(string)) {
		var j *Journal
		if j, failed = Open(path, Options{file: watched(false)}); failed != nil {
			return
		}
		for i := range events {
			failed = errors.Join(failed,
				j.Put(sample.Event(fmt.Sprint("cam", i%3), time.Duration(i)*time.Second,
					time.Duration(i+1)*time.Second), true))
		}
		b, err := os.ReadFile(path) // not closed in good order
		failed = errors.Join(failed, j.Close())
		if failed = errors.Join(failed, err); failed != nil {
			return
		}
		clear(b[sample.LeafOf(t, b, schema.Events):][:4096])
		mark("damaged")
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err == nil {
			_, err = f.WriteAt(b, 0)
			err = errors.Join(err, f.Sync(), f.Close())
		}
		mark("recovery")
		if failed = errors.Join(failed, err); failed != nil {
			return
		}
		if j, failed = Open(path, Options{file: watched(false)}); failed == nil {
			left, found = keysOf(j), j.Damage() != nil
			failed = j.Close()
		}
	})
	require.NoError(t, failed)
	require.Greater(t, left, events/2)
	require.LessOrEqual(t, left, events)
	require.True(t, found, "the damage")
	for damaged = range log {
		if log[damaged].Kind == witness.Mark && log[damaged].Path == "recovery" {
			break
		}
	}
	require.Greater(t, len(log)-damaged, 10)
	rng := rand.New(rand.NewPCG(1, 2))
	for k := damaged; k <= len(log); k++ {
		to := sample.Folder(t)
		require.NoError(t, witness.Crash(log[:k], dir, to, rng))
		j, err := Open(filepath.Join(to, "journal.db"), Options{})
		require.NoError(t, err, "operation %d of %d", k, len(log))
		require.Equal(t, left, keysOf(j), "operation %d of %d: %v", k, len(log), log[min(k, len(log)-1)])
		s, err := j.OutboxStats()
		require.NoError(t, err)
		require.Equal(t, left, s.Waiting)
		require.NoError(t, j.Close())
	}
	t.Logf("%d operations", len(log)-damaged)
}

// keysOf is how many events a journal has.
func keysOf(j *Journal) int {
	s, err := j.OutboxStats()
	if err != nil {
		return -1
	}
	return s.Events
}
