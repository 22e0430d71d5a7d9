package journal

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/journal/sample"
	"vmsbridge/storage/vfs/witness"
	"vmsbridge/uplink/vms"
)

// TestFaultAtAnyOperation fails one operation, or all from one on, with a full disk or a bad one.
// Nothing that was promised is lost, also when a crash follows; the error says what it is; and it
// goes on when the disk is good again.
func TestFaultAtAnyOperation(t *testing.T) { failEverywhere(t, 0, 12, 9) }

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

// faulty is a scenario on a disk that fails.
type faulty struct {
	t       *testing.T
	seed    uint64
	steps   int
	k       int
	errno   syscall.Errno
	lasting bool
	where   string

	// Set by one of the two goroutines, read by both.
	hit, over atomic.Bool
}

func (f *faulty) fault(n int, _ witness.Op) int {
	if f.over.Load() || n < f.k || n > f.k && !f.lasting {
		return 0
	}
	f.hit.Store(true)
	return int(f.errno)
}

func (f *faulty) run(rng *rand.Rand) (hit bool) {
	dir := sample.Folder(f.t)
	p := promises{events: map[string][]vms.Event{}, waits: map[string]bool{}, unsure: map[string]bool{}}
	log := watchOrSkip(f.t, dir, f.fault, func(func(string)) {
		s := newScenario(filepath.Join(dir, "journal.db"), f.seed)
		s.careful = true // a change that the file does not take is refused
		f.live(s, &p)
	})
	if f.t.Failed() {
		f.t.FailNow()
	}
	if !f.hit.Load() {
		return false
	}
	for range 2 {
		to := sample.Folder(f.t)
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

// promises are what a journal said is durable: of each event the versions from the last one
// promised on, and whether it waits.
type promises struct {
	events map[string][]vms.Event
	waits  map[string]bool
	unsure map[string]bool // an attempt to change that failed
}

// live puts, replaces, acknowledges and compacts. It runs on the watched goroutine, where a failed
// require would end it.
func (f *faulty) live(s *scenario, p *promises) {
	t := f.t
	bad := func(err error, what string) bool {
		if err == nil {
			return false
		}
		if !f.hit.Load() {
			t.Errorf("%s: %s failed before the fault: %v", f.where, what, err)
		} else if f.errno == syscall.ENOSPC && !errors.Is(err, ErrFull) {
			t.Errorf("%s: %s: %v does not say that the disk is full", f.where, what, err)
		}
		return true
	}
	for bad(s.open(), "open") {
		if f.over.Load() {
			t.Errorf("%s: it does not open when the disk is good again", f.where)
			return
		}
		f.over.Store(true)
	}
	for i := range f.steps {
		if i == f.steps*3/4 {
			f.over.Store(f.hit.Load())
		}
		s.n++
		switch i % 7 {
		case 3:
			entries, err := s.j.Peek(1)
			if bad(err, "peek") || len(entries) == 0 {
				continue
			}
			id := entries[0].Event.ID
			if bad(ack(s.j, id, entries[0].Revision), "ack") {
				p.unsure[id] = true
			} else {
				p.waits[id], p.unsure[id] = false, false
			}
		case 5:
			_, err := s.j.OutboxStats()
			if !bad(err, "stats") {
				_, err = s.j.file.Compact(s.context())
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
			_ = s.j.Close()
			return
		}
	}
	f.over.Store(f.hit.Load())
	if err := s.j.Put(sample.Event("after", 0, time.Second), true); err != nil {
		if f.over.Load() {
			t.Errorf("%s: it does not go on: %v", f.where, err)
		}
		f.over.Store(true) // the fault began with this put
	}
	if err := s.j.Close(); err != nil && !f.hit.Load() {
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
	entries, err := j.Peek(1 << 30)
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
