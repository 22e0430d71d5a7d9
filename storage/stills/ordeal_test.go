package stills

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/stills/segment"
	"vmsbridge/storage/vfs/vfstest"
)

// ordeal is a ring's life on a disk in memory that goes wrong at operation k, and then loses its
// power: what was flushed must be found, and nothing but what was put in.
type ordeal struct {
	seed  uint64
	k     int
	fails func(op vfstest.Op, n, k int) error

	disk   *vfstest.Disk
	ops    int
	hit    vfstest.Op
	clock  hand
	opts   Options
	put    map[string][][]byte // all bytes that were ever given to Append for a camera, kind and time
	stored []stored
	live   map[uint64]bool // segments that the ring has not dropped
}

// stored is a still that Append took.
type stored struct {
	Still
	segment uint64
	flushed bool
	doomed  bool // a process ended without having flushed it
}

// The ways in which a disk goes wrong. Of all of them, the power goes at the end.
var ordeals = map[string]func(op vfstest.Op, n, k int) error{
	// Nothing reaches the disk from operation k on.
	"power cut": func(op vfstest.Op, n, k int) error {
		if n >= k {
			return syscall.EIO
		}
		return nil
	},
	"EIO":       once(syscall.EIO),
	"disk full": once(syscall.ENOSPC),
	// A bad patch: ten operations.
	"bad patch": func(op vfstest.Op, n, k int) error {
		if n >= k && n < k+10 {
			return syscall.EIO
		}
		return nil
	},
}

func once(err error) func(vfstest.Op, int, int) error {
	return func(_ vfstest.Op, n, k int) error {
		if n == k {
			return err
		}
		return nil
	}
}

const ordealDir = "/stills"

func newOrdeal(seed uint64, k int, fails func(vfstest.Op, int, int) error) *ordeal {
	o := &ordeal{seed: seed, k: k, fails: fails, disk: vfstest.NewDisk(12 * 64 << 10), put: map[string][][]byte{}}
	o.clock.wall = epoch
	o.opts = Options{MaxBytes: 10 * 64 << 10, SegmentBytes: 64 << 10, FlushEvery: time.Hour, MinFree: 64 << 10,
		Cameras: 3, MaxAge: 3 * day, Clock: o.clock.clock}
	var mu sync.Mutex // the flusher may be at work too
	o.opts.FS = vfstest.Inject(o.disk, func(op vfstest.Op) error {
		mu.Lock()
		defer mu.Unlock()
		o.ops++
		if o.ops == o.k {
			o.hit = op
		}
		return o.fails(op, o.ops, o.k)
	})
	return o
}

func (s *Still) key() string { return fmt.Sprint(s.Camera, s.Kind, s.Time.UnixNano()) }

// run lives through it: three rounds of opening, storing, flushing, asking. Round by round the
// draws are the same for a seed, whatever fails.
func (o *ordeal) run(t *testing.T, stills int) {
	rng := rand.New(rand.NewPCG(o.seed, 7))
	now := epoch
	for range 3 {
		r, err := Open(ordealDir, o.opts)
		if r == nil {
			require.Error(t, err)
		}
		for range stills {
			o.clock.pass(time.Duration(rng.IntN(7200)) * time.Second)
			if rng.IntN(20) == 0 {
				o.clock.step(time.Duration(rng.IntN(200)-100) * time.Hour)
			}
			now = now.Add(time.Duration(rng.IntN(40)-4) * time.Second)
			s := Still{[]string{"noisy", "noisy", "noisy", "calm", "rare"}[rng.IntN(5)], Kind(1 + rng.IntN(2)), now,
				picture(rng.Uint64(), 1+rng.IntN(9000))}
			what := rng.IntN(30)
			if r == nil {
				continue
			}
			o.put[s.key()] = append(o.put[s.key()], s.JPEG)
			if r.Append(s) == nil {
				o.took(r, s)
			}
			switch {
			case what < 3:
				o.flush(r)
			case what == 3:
				_ = r.Gap(s.Camera, now, now.Add(time.Second), "offline")
			case what == 4:
				_, _ = r.Release(1)
			case what == 5:
				r.appendMu.Lock()
				r.expire()
				r.appendMu.Unlock()
			case what < 9:
				o.ask(t, r, s)
			}
		}
		if r == nil {
			continue
		}
		if r.Close() == nil {
			o.flushed(r)
		}
		o.look(r) // when the flusher, which drops for age, is at rest
		for i := range o.stored {
			o.stored[i].doomed = !o.stored[i].flushed
		}
	}
}

// took notes where a still is.
func (o *ordeal) took(r *Ring, s Still) {
	key := segment.Key{Camera: s.Camera, Kind: s.Kind}
	if loc, none := r.index.Find(key, At, s.Time.UnixNano(), At, 0); none == nil {
		o.stored = append(o.stored, stored{Still: s, segment: loc.Seg.Number})
	}
}

func (o *ordeal) flush(r *Ring) {
	if r.Flush() == nil {
		o.flushed(r)
	}
}

// flushed notes what a flush brought to the device: not the stills of a segment that was dropped
// before, whose file may be there all the same, since the disk would not delete it.
func (o *ordeal) flushed(r *Ring) {
	o.look(r)
	for i := range o.stored {
		s := &o.stored[i]
		s.flushed = s.flushed || !s.doomed && o.live[s.segment]
	}
}

// look notes which segments there are.
func (o *ordeal) look(r *Ring) {
	r.appendMu.Lock()
	defer r.appendMu.Unlock()
	o.live = map[uint64]bool{}
	for _, s := range r.segments {
		o.live[s.Number] = !s.dead
	}
}

func (o *ordeal) ask(t *testing.T, r *Ring, s Still) {
	got, err := r.Before(s.Camera, s.Kind, s.Time.Add(1))
	if err == nil {
		o.requireTrue(t, got)
	} else if _, ok := errors.AsType[*NoneError](err); !ok {
		t.Fatalf("%s: %v", o.what(), err)
	}
}

// requireTrue wants that a still is one that was put in.
func (o *ordeal) requireTrue(t *testing.T, got Still) {
	for _, b := range o.put[got.key()] {
		if bytes.Equal(b, got.JPEG) {
			return
		}
	}
	t.Fatalf("%s: a still has bytes that nobody put in", o.what())
}

func (o *ordeal) what() string {
	return fmt.Sprintf("seed %d, operation %d: %s %s", o.seed, o.k, o.hit.Kind, o.hit.Name)
}

// end cuts the power, and judges what is left, n times with other luck.
func (o *ordeal) end(t *testing.T, n int) {
	for luck := range uint64(n) {
		rng := rand.New(rand.NewPCG(o.seed*1000+uint64(o.k), luck))
		disk := o.disk.Crash(rng)
		opts := o.opts
		opts.FS = disk
		r, err := Open(ordealDir, opts)
		require.NoError(t, err, o.what())
		require.LessOrEqual(t, r.Stats().Bytes, opts.MaxBytes, o.what())
		there := map[uint64]bool{}
		r.appendMu.Lock()
		for _, s := range r.segments {
			there[s.Number] = true
		}
		r.appendMu.Unlock()
		byKey := map[string]stored{}
		for _, s := range o.stored {
			if old, twice := byKey[s.key()]; !twice || s.flushed || !old.flushed {
				byKey[s.key()] = s
			}
		}
		for _, s := range byKey {
			got, err := r.Find(s.Camera, s.Kind, At, s.Time)
			if err == nil {
				o.requireTrue(t, got)
				continue
			}
			dropped := !o.live[s.segment] || r.Stats().DroppedSegments > 0 && !there[s.segment]
			require.False(t, s.flushed && !dropped, "%s, luck %d: a flushed still in segment %d is lost: %v", o.what(),
				luck, s.segment, err)
		}
		for _, camera := range []string{"noisy", "calm", "rare"} {
			frames, _, err := r.Range(camera, 0, time.Time{}, time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC), 0)
			require.NoError(t, err)
			for _, f := range frames {
				got, err := r.Find(camera, f.Kind, At, f.Time)
				require.NoError(t, err, "%s, luck %d: it is listed", o.what(), luck)
				require.Len(t, got.JPEG, f.Size)
				o.requireTrue(t, got)
			}
		}
		next := Still{"calm", Main, epoch.Add(1000 * day), picture(1, 5000)}
		require.NoError(t, r.Append(next), o.what())
		require.NoError(t, r.Close(), o.what())
		rep, err := check(disk, ordealDir)
		require.NoError(t, err)
		if !rep.Clean() {
			// A new segment of which nothing whole arrived, and not its ends either, is not Open's
			// to delete. And where a process ended after a flush that failed, the next one cannot
			// know that what it reads is on no device.
			for _, p := range rep.Problems {
				if slices.ContainsFunc(o.stored, func(s stored) bool { return s.doomed }) {
					break
				}
				// Its stills are hours apart, so one whose name did not arrive looks like one that
				// was lost.
				if !strings.Contains(p.What, "was not dropped") {
					require.Contains(t, p.What, "neither of its ends can be read", "%s, luck %d", o.what(), luck)
				}
			}
			rep, err = Repair(ordealDir, opts)
			require.NoError(t, err)
			require.Empty(t, rep.Problems, "%s, luck %d", o.what(), luck)
		}
		r, err = Open(ordealDir, opts)
		require.NoError(t, err)
		requireStill(t, r, next, At, next.Time)
		require.NoError(t, r.Close())
	}
}

// TestOrdeal has each disk go wrong at operation 1, 2, 3 … of a ring's life until it ends without
// reaching it.
func TestOrdeal(t *testing.T) {
	for name, fails := range ordeals {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for k := 1; ; k++ {
				o := newOrdeal(uint64(k%5), k, fails)
				o.run(t, 25)
				o.end(t, 1)
				if o.ops < k {
					t.Logf("%d operations", o.ops)
					require.Greater(t, len(o.stored), 60)
					return
				}
			}
		})
	}
}

// TestTorture is the same with lives that are drawn, and with rings that rot, for as long as
// scripts/torture stills says.
func TestTorture(t *testing.T) {
	span, err := time.ParseDuration(os.Getenv("TORTURE_FOR"))
	if err != nil {
		t.Skip("run scripts/torture stills for it")
	}
	seed, _ := strconv.ParseUint(os.Getenv("TORTURE_SEED"), 10, 64)
	names := []string{"power cut", "EIO", "disk full", "bad patch"}
	lives, ring := 0, makeRotten(t)
	for began := time.Now(); time.Since(began) < span; seed++ {
		rng := rand.New(rand.NewPCG(seed, 11))
		probe := newOrdeal(seed, -100, ordeals["EIO"])
		stills := 20 + rng.IntN(200)
		probe.run(t, stills)
		probe.end(t, 1)
		for range 50 {
			name := names[rng.IntN(len(names))]
			o := newOrdeal(seed, 1+rng.IntN(probe.ops), ordeals[name])
			o.run(t, stills)
			o.end(t, 3)
			lives++
			if t.Failed() {
				t.Fatalf("TORTURE_SEED=%d, %s", seed, name)
			}
			ring.rot(t, rng.Uint64())
		}
	}
	t.Logf("%d lives, up to seed %d", lives, seed)
}
