package clock

import (
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var (
	truth0 = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) // when a bench begins
	built  = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
)

// hand is a machine whose clocks the test moves. up is the true time since truth0.
type hand struct {
	mu     sync.Mutex
	id     string
	up     time.Duration
	booted time.Duration // up at the boot
	drift  float64       // of the boot clock, parts of one
	wrong  time.Duration // of the wall clock
	synced bool
	kept   bool
}

func (h *hand) BootID() string { return h.id }

func (h *hand) boot() time.Duration {
	gone := h.up - h.booted
	return gone + time.Duration(float64(gone)*h.drift)
}

func (h *hand) Boot() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.boot()
}

func (h *hand) Read() Reading {
	h.mu.Lock()
	defer h.mu.Unlock()
	return Reading{Wall: truth0.Add(h.up + h.wrong), Boot: h.boot(), Raw: h.boot() + time.Second, Synced: h.synced,
		Kept: h.kept}
}

// record is something stored: its time as it is stored, and what it truly was.
type record struct {
	at, truth time.Time
	era       uint32
	note      *Note
}

// bench is a bridge's disk, with a clock on it.
type bench struct {
	t      *testing.T
	h      *hand
	opts   Options
	c      *Clock
	meta   map[string][]byte
	events []record
	stills []record
	piece  int // events that are settled in one call; 0: all
	fail   error
	shifts map[uint32]time.Duration // of the eras that are announced
	steps  []Step
}

func newBench(t *testing.T, h *hand) *bench {
	return &bench{t: t, h: h, meta: map[string][]byte{}, shifts: map[uint32]time.Duration{},
		opts: Options{Machine: h, Wait: 10 * time.Minute, Built: built, Log: slog.New(slog.DiscardHandler)}}
}

func (b *bench) Meta(k string) ([]byte, error)    { return b.meta[k], nil }
func (b *bench) SetMeta(k string, v []byte) error { b.meta[k] = v; return b.fail }

func (b *bench) Announce(era uint32, shift time.Duration) { b.shifts[era] = shift }

func (b *bench) SettleEvents(era uint32, shift time.Duration, note *Note) (n int, more bool, err error) {
	for i := range b.events {
		if r := &b.events[i]; r.era == era && b.fail == nil {
			if more = b.piece > 0 && n == b.piece; more {
				break
			}
			r.at, r.era, r.note = r.at.Add(shift), 0, note
			n++
		}
	}
	return n, more || b.fail != nil, b.fail
}

func (b *bench) SettleStills(era uint32, shift time.Duration) error {
	for i := range b.stills {
		if r := &b.stills[i]; r.era == era {
			r.at, r.era = r.at.Add(shift), 0
		}
	}
	return nil
}

func (b *bench) Extent(era uint32) (from, to time.Time, ok bool, err error) {
	for _, r := range b.events {
		if r.era == era {
			if !ok || r.at.Before(from) {
				from = r.at
			}
			if !ok || r.at.After(to) {
				to = r.at
			}
			ok = true
		}
	}
	return from, to, ok, nil
}

// start starts the bridge; boot starts the machine before.
func (b *bench) start() {
	b.opts.Stepped = func(s Step) { b.steps = append(b.steps, s) }
	b.c = New(b.opts)
	require.NoError(b.t, b.c.Open(b, b))
}

func (b *bench) boot(id string, shows time.Time) {
	b.h.mu.Lock()
	b.h.id, b.h.booted, b.h.synced = id, b.h.up, false
	b.h.wrong = shows.Sub(truth0.Add(b.h.up))
	b.h.mu.Unlock()
	b.start()
}

// pass lets time go by; a record a second.
func (b *bench) pass(d time.Duration) {
	for range d / time.Second {
		b.h.mu.Lock()
		b.h.up += time.Second
		b.h.mu.Unlock()
		b.c.look()
		b.record()
	}
}

func (b *bench) record() {
	b.store(b.stamp())
}

// stamp gives this moment its time, as store may store it later.
func (b *bench) stamp() record {
	t := b.c.Now()
	at, era := b.c.Stamp()
	return record{at: at(t), truth: truth0.Add(b.h.up), era: era}
}

// store stores what was stamped, as the stores do: what is of an era whose error is known is put
// right.
func (b *bench) store(r record) {
	if shift, known := b.shifts[r.era]; known && r.era != 0 {
		r.at, r.era = r.at.Add(shift), 0
	}
	b.events, b.stills = append(b.events, r), append(b.stills, r)
}

// sync is what an NTP daemon does.
func (b *bench) sync() { b.set(truth0.Add(b.h.up)); b.h.synced = true }

// set sets the wall clock, as date does.
func (b *bench) set(to time.Time) {
	b.h.mu.Lock()
	b.h.wrong, b.h.synced = to.Sub(truth0.Add(b.h.up)), false
	b.h.mu.Unlock()
}

func (b *bench) isTrue() bool {
	select {
	case <-b.c.open:
		return true
	default:
		return false
	}
}

// worst is the largest error of what is recorded, and requires that all is in order.
func (b *bench) worst() (worst time.Duration) {
	for _, list := range [][]record{b.events, b.stills} {
		for i, r := range list {
			require.Zero(b.t, r.era, "record %d is still of an era", i)
			worst = max(worst, r.at.Sub(r.truth).Abs())
			if i > 0 {
				require.True(b.t, r.at.After(list[i-1].at), "record %d is not after the one before: %s, %s", i,
					list[i-1].at, r.at)
			}
		}
	}
	return worst
}

func (b *bench) within(limit time.Duration) {
	b.t.Helper()
	worst := b.worst()
	b.t.Logf("worst error %s in %d records", worst, len(b.events))
	require.LessOrEqual(b.t, worst, limit)
}
