package journal

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/vfs/witness"
	"vmsbridge/uplink/vms"
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
	h := history{dir: t.TempDir()}
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

// TestCrashAtEveryOperation: whatever operation the power goes at, and whatever the disk kept of what was not synced, the
// journal opens undamaged, and holds exactly what it held after the last step that had returned, or after the next.
func TestCrashAtEveryOperation(t *testing.T) { crashEverywhere(t, 0, 30) }

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
	t.Logf("seed %d: %d operations in %d steps, %d states of the disk after a crash", seed, len(h.log), len(h.steps), tried)
}

func (h history) crash(t *testing.T, k, done int, rng *rand.Rand, where string) {
	dir := t.TempDir()
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
		t.Fatalf("%s, after %q: the journal holds\n%s\nand should hold\n%s", where, h.steps[max(done-1, 0)], shortened(got, 4000), shortened(want[0], 4000))
	}
}

// TestFaultAtAnyOperation fails one operation, or all from one on, with a full disk or a bad one. Nothing that was promised
// is lost, also when a crash follows; the error says what it is; and it goes on when the disk is good again.
func TestFaultAtAnyOperation(t *testing.T) { failEverywhere(t, 0, 14, 4) }

// failEverywhere fails every so many-th operation of a scenario.
func failEverywhere(t *testing.T, seed uint64, steps, every int) {
	rng := rand.New(rand.NewPCG(seed, 3))
	runs := 0
	for k := rng.IntN(every); ; k += every {
		errno := []syscall.Errno{syscall.EIO, syscall.ENOSPC}[rng.IntN(2)]
		f := faulty{t: t, seed: seed, steps: steps, k: k, errno: errno, lasting: rng.IntN(2) == 0,
			where: fmt.Sprintf("seed %d, %v at operation %d", seed, errno, k)}
		runs++
		if !f.run(rng) {
			break // the scenario has fewer operations
		}
	}
	t.Logf("seed %d: %d faults", seed, runs)
}

// TestTorture goes on for TORTURE_FOR with longer lives, each from a seed of its own: scripts/torture journal.
func TestTorture(t *testing.T) {
	if os.Getenv("TORTURE_FOR") == "" {
		t.Skip("this goes on for hours: scripts/torture journal 1h")
	}
	span, err := time.ParseDuration(os.Getenv("TORTURE_FOR"))
	require.NoError(t, err)
	seed, err := strconv.ParseUint(os.Getenv("TORTURE_SEED"), 10, 64)
	require.NoError(t, err)
	for end := time.Now().Add(span); time.Now().Before(end); seed++ {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) { // a subtest of its own, so that its folders go
			crashEverywhere(t, seed, 20+int(seed%80))
			failEverywhere(t, seed, 14+int(seed%26), 1+int(seed%3))
			randomDamage(t, seed)
		})
	}
}

// faulty is a scenario on a disk that fails.
type faulty struct {
	t       *testing.T
	seed    uint64
	steps   int
	k       int
	errno   syscall.Errno
	lasting bool
	where   string

	hit  bool
	over bool
}

func (f *faulty) fault(n int, _ witness.Op) int {
	if f.over || n < f.k || n > f.k && !f.lasting {
		return 0
	}
	f.hit = true
	return int(f.errno)
}

func (f *faulty) run(rng *rand.Rand) (hit bool) {
	dir := f.t.TempDir()
	p := promises{events: map[string][]vms.Event{}, waits: map[string]bool{}, unsure: map[string]bool{}}
	log := watchOrSkip(f.t, dir, f.fault, func(func(string)) { f.live(newScenario(filepath.Join(dir, "journal.db"), f.seed), &p) })
	if f.t.Failed() {
		f.t.FailNow()
	}
	if !f.hit {
		return false
	}
	for range 2 {
		to := f.t.TempDir()
		require.NoError(f.t, witness.Crash(log, dir, to, rng), f.where)
		j, err := Open(filepath.Join(to, "journal.db"), Options{})
		require.NoError(f.t, err, f.where)
		require.Nil(f.t, j.Damage(), f.where)
		requireClean(f.t, j)
		p.check(f.t, j, f.where+", then a crash")
		require.NoError(f.t, j.Close())
	}
	return true
}

// promises are what a journal said is durable: of each event the versions from the last one promised on, and whether it waits.
type promises struct {
	events map[string][]vms.Event
	waits  map[string]bool
	unsure map[string]bool // an attempt to change that failed
}

// live puts, replaces, acknowledges and compacts. It runs on the watched goroutine, where a failed require would end it.
func (f *faulty) live(s *scenario, p *promises) {
	t := f.t
	bad := func(err error, what string) bool {
		if err == nil {
			return false
		}
		if !f.hit {
			t.Errorf("%s: %s failed before the fault: %v", f.where, what, err)
		} else if f.errno == syscall.ENOSPC && !errors.Is(err, ErrFull) {
			t.Errorf("%s: %s: %v does not say that the disk is full", f.where, what, err)
		}
		return true
	}
	for bad(s.open(), "open") {
		if f.over {
			t.Errorf("%s: it does not open when the disk is good again", f.where)
			return
		}
		f.over = true
	}
	for i := range f.steps {
		if i == f.steps*3/4 {
			f.over = f.hit
		}
		s.n++
		switch i % 7 {
		case 3:
			entries, err := s.j.Peek(1, nil)
			if bad(err, "peek") || len(entries) == 0 {
				continue
			}
			id := entries[0].Event.ID
			if bad(s.j.Ack(id, entries[0].Revision), "ack") {
				p.unsure[id] = true
			} else {
				p.waits[id], p.unsure[id] = false, false
			}
		case 5:
			st, err := s.j.OutboxStats()
			if !bad(err, "stats") {
				_, err = s.j.compact(s.context(), st)
				bad(err, "compact")
			}
		default:
			ev := s.event()
			if len(s.ids) > 2 && i%2 == 0 {
				if old, err := s.j.Get(s.ids[s.rng.IntN(len(s.ids))]); err == nil {
					ev = old
					ev.EndTimestamp = vms.Ptr(ev.StartTimestamp.Add(time.Duration(s.n) * time.Minute))
				}
			}
			if bad(s.j.Put(ev, true), "put") {
				p.events[ev.ID] = append(p.events[ev.ID], ev)
				p.unsure[ev.ID] = true
				if len(p.events[ev.ID]) == 1 {
					p.events[ev.ID] = nil // never promised
				}
			} else {
				s.ids = append(s.ids, ev.ID)
				p.events[ev.ID], p.waits[ev.ID], p.unsure[ev.ID] = []vms.Event{ev}, true, false
			}
		}
		p.check(t, s.j, f.where)
		if t.Failed() {
			_ = s.j.crash()
			return
		}
	}
	f.over = f.hit
	if err := s.j.Put(event("after", 0, time.Second), true); err != nil {
		if f.over {
			t.Errorf("%s: it does not go on: %v", f.where, err)
		}
		f.over = true // the fault began with this put
	}
	if err := s.j.Close(); err != nil && !f.hit {
		t.Errorf("%s: close: %v", f.where, err)
	}
}

func (p *promises) check(t *testing.T, j *Journal, where string) {
	r, err := j.Check()
	if err != nil || !r.Clean() {
		t.Errorf("%s: check: %v %v", where, err, r.Problems)
		return
	}
	s, err := j.OutboxStats()
	if err != nil || s.Waiting != r.Waiting || s.Events != r.Events {
		t.Errorf("%s: stats say %+v, the file %+v (%v)", where, s, r, err)
	}
	entries, err := j.Peek(1<<30, nil)
	if err != nil {
		t.Errorf("%s: peek: %v", where, err)
	}
	waits := map[string]bool{}
	for _, e := range entries {
		waits[e.Event.ID] = true
	}
	for id, versions := range p.events {
		if len(versions) == 0 {
			continue
		}
		got, err := j.Get(id)
		if err != nil || !slices.ContainsFunc(versions, func(v vms.Event) bool { return sameEvent(v, got) }) {
			t.Errorf("%s: event %s was promised, and is lost or old: %v", where, id, err)
		}
		if !p.unsure[id] && p.waits[id] != waits[id] {
			t.Errorf("%s: event %s: waits is %v and should be %v", where, id, waits[id], p.waits[id])
		}
	}
}

func sameEvent(a, b vms.Event) bool {
	return a.ID == b.ID && a.StartTimestamp.Equal(b.StartTimestamp.Time) && a.Ongoing() == b.Ongoing() &&
		(a.Ongoing() || a.EndTimestamp.Equal(b.EndTimestamp.Time))
}
