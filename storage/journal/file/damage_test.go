package file_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/boltfile"
	"vmsbridge/storage/journal"
	"vmsbridge/storage/journal/file"
	"vmsbridge/storage/journal/sample"
	"vmsbridge/storage/journal/schema"
	"vmsbridge/uplink/vms"
)

// filled is what a journal of the damage tests holds.
type filled struct {
	events  map[string]vms.Event
	waiting map[string]bool
	parked  map[string]bool
}

// fill makes a journal of 400 events: a quarter waits, a few are parked, a few go on. Closed in
// good order or not. It is made once and copied, without what was beside it.
func fill(t testing.TB, path string, clean bool) filled { return fillBeside(t, path, clean, false) }

// fillBeside is fill, with what was beside the file or not.
func fillBeside(t testing.TB, path string, clean, beside bool) filled {
	t.Helper()
	madeMu.Lock()
	defer madeMu.Unlock()
	m, ok := made[clean]
	if !ok {
		from := sample.Path(t)
		m.filled = fillOnce(t, from, clean)
		b, err := os.ReadFile(from)
		require.NoError(t, err)
		m.bytes = b
		m.beside, err = sample.Segments(from)
		require.NoError(t, err)
		require.NotEmpty(t, m.beside)
		m.from = from
		if !clean {
			m.beside[from+file.LogSuffix], err = os.ReadFile(from + file.LogSuffix)
			require.NoError(t, err)
		}
		made[clean] = m
	}
	require.NoError(t, os.WriteFile(path, m.bytes, 0o600))
	for name, b := range m.beside {
		if beside {
			require.NoError(t, os.WriteFile(path+strings.TrimPrefix(name, m.from), b, 0o600))
		}
	}
	return filled{maps.Clone(m.events), m.waiting, m.parked}
}

var (
	madeMu sync.Mutex
	made   = map[bool]madeJournal{}
)

type madeJournal struct {
	filled
	bytes  []byte
	from   string            // where it was made
	beside map[string][]byte // by name
}

func fillOnce(t testing.TB, path string, clean bool) filled {
	t.Helper()
	j, err := journal.Open(path, journal.Options{})
	require.NoError(t, err)
	f := filled{map[string]vms.Event{}, map[string]bool{}, map[string]bool{}}
	// Every third begins before others do, and ends when those are there: in two forms.
	put := func(i int, begun bool) {
		ev := sample.Event(fmt.Sprint("cam", i%7), time.Duration(i)*time.Second, time.Duration(i+2)*time.Second)
		if i%50 == 0 || begun {
			ev.EndTimestamp = nil
		}
		require.NoError(t, j.Put(ev, true))
		f.events[ev.ID] = ev
	}
	for i := range 400 {
		if next := i + 20; next%3 == 0 && next < 400 {
			put(next, true)
		}
		put(i, false)
	}
	entries, err := j.Peek(300)
	require.NoError(t, err)
	for i, e := range entries {
		if i%60 == 0 {
			require.NoError(t, j.Park(e.Event.ID, e.Revision, "refused"))
			f.parked[e.Event.ID] = true
		} else {
			ack(t, j, e)
		}
	}
	entries, err = j.Peek(300)
	require.NoError(t, err)
	for _, e := range entries {
		f.waiting[e.Event.ID] = true
	}
	require.NoError(t, j.SetMeta("boot", []byte("7")))
	requireClean(t, j)
	if clean {
		require.NoError(t, j.Close())
	} else {
		require.NoError(t, sample.Crash(path, j.Close))
	}
	return f
}

// survey is what is left of it in j; the rest must be in order.
func (f filled) survey(t testing.TB, j *journal.Journal) (events, waiting, parked int) {
	t.Helper()
	requireClean(t, j)
	entries, err := j.Peek(1000)
	require.NoError(t, err)
	waits := map[string]bool{}
	for _, e := range entries {
		waits[e.Event.ID] = true
	}
	list, err := j.Parked()
	require.NoError(t, err)
	parks := map[string]bool{}
	for _, p := range list {
		parks[p.Event.ID] = true
	}
	page, err := j.List(vms.Query{PageSize: journal.MaxPageSize}, nil)
	require.NoError(t, err)
	for _, ev := range page.Events {
		want, ok := f.events[ev.ID]
		require.True(t, ok, "event %q was never put", ev.ID)
		require.Equal(t, want, ev)
		events++
		if f.waiting[ev.ID] {
			require.True(t, waits[ev.ID], "event %q survived, but is no longer reported", ev.ID)
			waiting++
		}
		if f.parked[ev.ID] {
			require.True(t, parks[ev.ID] || waits[ev.ID], "event %q survived, but is neither parked nor reported",
				ev.ID)
			parked++
		}
	}
	// It works.
	ev := sample.Event("surveyor", 0, time.Second)
	require.NoError(t, j.Put(ev, true))
	entries, err = j.Peek(1000)
	require.NoError(t, err)
	last := entries[len(entries)-1]
	require.Equal(t, ev.ID, last.Event.ID)
	ack(t, j, last)
	return events, waiting, parked
}

func ack(t testing.TB, j *journal.Journal, e journal.Entry) {
	_, err := j.AckAll([]journal.Entry{e})
	require.NoError(t, err)
}

// requireAll fails the test if anything is lost, or reported again.
func (f filled) requireAll(t testing.TB, j *journal.Journal) {
	t.Helper()
	if d := j.Damage(); d != nil {
		require.Zero(t, d.Requeued+d.LostPages+d.DamagedValues, d)
	}
	stats, err := j.OutboxStats()
	require.NoError(t, err)
	events, waiting, parked := f.survey(t, j)
	require.Equal(t, []int{len(f.events), len(f.waiting), len(f.parked)}, []int{events, waiting, parked})
	require.Equal(t, []int{len(f.waiting), len(f.parked)}, []int{stats.Waiting, stats.Parked})
	v, err := j.Meta("boot")
	require.NoError(t, err)
	require.Equal(t, "7", string(v))
}

func TestDamage(t *testing.T) {
	const all, waiting, parked = 400, 100, 5
	for _, c := range []struct {
		name       string
		damage     func(t *testing.T, b []byte) []byte
		events     int // at least
		meta       bool
		noDamage   bool
		waitingMin int
	}{
		{name: "none", damage: func(t *testing.T, b []byte) []byte { return b }, events: all, waitingMin: waiting,
			meta: true, noDamage: true},
		// The older of two meta pages leads to the transaction before, which had no "boot" yet.
		{name: "first meta page zeroed", damage: zero(0, 4096), events: all, waitingMin: waiting},
		{name: "second meta page zeroed", damage: zero(4096, 8192), events: all, waitingMin: waiting},
		{name: "flipped bit in the first meta page", damage: flip(16 + 20), events: all, waitingMin: waiting},
		{name: "both meta pages zeroed", damage: zero(0, 8192)},
		{name: "torn tail: last page cut", damage: func(t *testing.T, b []byte) []byte { return cutUsed(t, b, 1) },
			events: all - 20, waitingMin: waiting - 20},
		{name: "torn tail: one byte cut", damage: func(t *testing.T, b []byte) []byte {
			b = cutUsed(t, b, 0)
			return b[:len(b)-1]
		}, events: all - 20, waitingMin: waiting - 20},
		{name: "cut to the meta pages", damage: func(t *testing.T, b []byte) []byte { return b[:8192] }},
		{name: "cut to 100 bytes", damage: func(t *testing.T, b []byte) []byte { return b[:100] }},
		{name: "cut to nothing", damage: func(t *testing.T, b []byte) []byte { return nil }, noDamage: true},
		{name: "foreign file", damage: func(t *testing.T, b []byte) []byte {
			return []byte(strings.Repeat("not a journal\n", 2000))
		}},
		{name: "zeroed page of events", damage: func(t *testing.T, b []byte) []byte {
			at := sample.LeafOf(t, b, schema.Events)
			return zero(at, at+4096)(t, b)
		}, events: all - 10, waitingMin: waiting - 10, meta: true},
		{name: "flipped bit in an event", damage: func(t *testing.T, b []byte) []byte {
			return flip(sample.ValueOf(t, b, schema.Events)+200)(t, b)
		}, events: all - 1, waitingMin: waiting - 1,
			meta: true},
		{name: "flipped bit in a page header", damage: func(t *testing.T, b []byte) []byte {
			return flip(sample.LeafOf(t, b, schema.Events)+8)(t, b)
		}, events: all - 10, waitingMin: waiting - 10,
			meta: true},
		{name: "flipped bit in a page's elements", damage: func(t *testing.T, b []byte) []byte {
			return flip(sample.LeafOf(t, b, schema.Events)+16+5)(t, b)
		}, events: all - 10, waitingMin: waiting - 10,
			meta: true},
		{name: "flipped bit in a branch page", damage: func(t *testing.T, b []byte) []byte {
			return flip(pageOf(t, b, 0x01)+16+16+1)(t, b)
		}, events: all - 10, waitingMin: waiting - 10, meta: true},
		{name: "flipped bit in a branch's child", damage: func(t *testing.T, b []byte) []byte {
			return flip(pageOf(t, b, 0x01)+16+8)(t, b)
		}, events: all - 10, waitingMin: waiting - 10, meta: true},
		{name: "zeroed branch page", damage: func(t *testing.T, b []byte) []byte {
			at := pageOf(t, b, 0x01)
			return zero(at, at+4096)(t, b)
		}, events: all - 200, waitingMin: waiting - 75, meta: true},
		{name: "freelist names a page in use", damage: func(t *testing.T, b []byte) []byte {
			at := pageOf(t, b, 0x10)
			binary.LittleEndian.PutUint64(b[at+16:], uint64(sample.LeafOf(t, b, schema.Events)/4096))
			return b
		}, events: all, waitingMin: waiting, meta: true},
		{name: "zeroed freelist", damage: func(t *testing.T, b []byte) []byte {
			at := pageOf(t, b, 0x10)
			return zero(at, at+4096)(t, b)
		}, events: all, waitingMin: waiting, meta: true},
		{name: "page written over another", damage: func(t *testing.T, b []byte) []byte {
			at, other := sample.LeafOf(t, b, schema.Events), sample.LeafOf(t, b, schema.Outbox)
			copy(b[at:at+4096], b[other:other+4096])
			return b
		}, events: all - 10, waitingMin: waiting - 10, meta: true},
		{name: "file twice in a row", damage: func(t *testing.T, b []byte) []byte { return append(b, b...) },
			events: all, waitingMin: waiting, meta: true, noDamage: true},
		{name: "zeroed page of the outbox", damage: func(t *testing.T, b []byte) []byte {
			at := sample.LeafOf(t, b, schema.Outbox)
			return zero(at, at+4096)(t, b)
		}, events: all, waitingMin: waiting, meta: true},
	} {
		t.Run(c.name+", with what is beside it", func(t *testing.T) {
			t.Parallel()
			path := sample.Path(t)
			f := fillBeside(t, path, false, true)
			b, err := os.ReadFile(path)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(path, c.damage(t, b), 0o600))
			j := openChecked(t, path, journal.Options{})
			f.requireAll(t, j)
			require.NoError(t, j.Close())
			j = openChecked(t, path, journal.Options{})
			require.Nil(t, j.Damage(), "once repaired, it stays so")
		})
		t.Run(c.name, func(t *testing.T) {
			t.Parallel() // each waits for the disk most of the time
			path := sample.Path(t)
			f := fill(t, path, false)
			b, err := os.ReadFile(path)
			require.NoError(t, err)
			damaged := c.damage(t, append([]byte(nil), b...))
			require.NoError(t, os.WriteFile(path, damaged, 0o600))
			var told []file.Damage
			j := openChecked(t, path, journal.Options{OnDamage: func(d file.Damage) { told = append(told, d) }})
			if c.noDamage {
				require.Nil(t, j.Damage())
				require.Empty(t, told)
			} else {
				require.NotNil(t, j.Damage())
				require.Equal(t, []file.Damage{*j.Damage()}, told)
				aside, err := os.ReadFile(told[0].Aside)
				require.NoError(t, err)
				require.True(t, bytes.Equal(damaged, aside), "the damaged file is kept as it was")
				require.NotEmpty(t, told[0].String())
			}
			events, waits, parks := f.survey(t, j)
			t.Logf("%d of %d events, %d of %d waiting, %d of %d parked; %v", events, all, waits, waiting, parks, parked,
				j.Damage())
			require.GreaterOrEqual(t, events, c.events)
			require.GreaterOrEqual(t, waits, c.waitingMin)
			if c.meta {
				v, err := j.Meta("boot")
				require.NoError(t, err)
				require.Equal(t, "7", string(v))
			}
			// Once repaired, it stays so.
			require.NoError(t, j.Close())
			j = openChecked(t, path, journal.Options{})
			require.Nil(t, j.Damage())
		})
	}
}

// pageOf is the byte offset of a page in use with these flags: the freelist, or of the events'
// branch pages the one that takes the fewest events with it when it is zeroed: which of them come
// first in the file depends on how the writes were gathered, so on the machine's load.
func pageOf(t testing.TB, b []byte, flags uint16) int {
	t.Helper()
	f, err := boltfile.New(bytes.NewReader(b), int64(len(b)))
	require.NoError(t, err)
	if flags == 0x10 {
		return int(f.Meta().Freelist) * 4096
	}
	found, most := 0, -1
	for at := 2 * 4096; at < len(b); at += 4096 {
		if binary.LittleEndian.Uint16(b[at+8:]) != flags {
			continue
		}
		// In use is what matters when it is gone.
		changed := bytes.Clone(b)
		clear(changed[at : at+4096])
		f, err := boltfile.New(bytes.NewReader(changed), int64(len(b)))
		require.NoError(t, err)
		left := 0
		_, lost, err := f.Walk(func(bucket string, _, _ []byte) error {
			if bucket == string(schema.Events) {
				left++
			}
			return nil
		})
		require.NoError(t, err)
		ofEvents := slices.ContainsFunc(lost, func(l boltfile.Lost) bool { return l.Bucket == string(schema.Events) })
		if ofEvents && left > most {
			found, most = at, left
		}
	}
	require.NotZero(t, found, "there is no such page")
	return found
}

func zero(from, to int) func(*testing.T, []byte) []byte {
	return func(_ *testing.T, b []byte) []byte { clear(b[from:to]); return b }
}

func flip(at int) func(*testing.T, []byte) []byte {
	return func(_ *testing.T, b []byte) []byte { b[at] ^= 4; return b }
}

// cutUsed ends the file n pages before the last page in use.
func cutUsed(t *testing.T, b []byte, n int) []byte {
	f, err := boltfile.New(strings.NewReader(string(b)), int64(len(b)))
	require.NoError(t, err)
	m := f.Meta()
	return b[:(int(m.Pages)-n)*m.PageSize]
}

// TestRandomDamage hits any pages of the file, closed in good order or not. Whatever was hit, it
// opens and works, and what survived is still reported.
func TestRandomDamage(t *testing.T) {
	for seed := range uint64(10) {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			t.Parallel()
			randomDamage(t, seed)
		})
	}
}

func randomDamage(t *testing.T, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 5))
	clean, beside := seed%3 == 0, seed%2 == 0
	path := sample.Path(t)
	f := fillBeside(t, path, clean, beside)
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	used := len(cutUsed(t, b, 0)) / 4096
	hits := 1 + rng.IntN(4)
	for range hits {
		at := rng.IntN(used) * 4096
		switch rng.IntN(3) {
		case 0:
			clear(b[at : at+4096])
		case 1:
			b[at+rng.IntN(4096)] ^= 1 << rng.IntN(8)
		case 2:
			copy(b[at:at+4096], b[rng.IntN(used)*4096:])
		}
	}
	require.NoError(t, os.WriteFile(path, b, 0o600))
	j, err := journal.Open(path, journal.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, j.Close()) }()
	if clean && j.Damage() == nil {
		// Not looked through at the start; what is found on the way must not end the process, and a
		// start after a crash looks through everything.
		for id := range f.events {
			_, _ = j.Get(id)
		}
		_, _ = j.List(vms.Query{}, nil)
		_ = j.Put(sample.Event("new", time.Hour, 2*time.Hour), true)
		require.NoError(t, sample.Crash(path, j.Close))
		j, err = journal.Open(path, journal.Options{})
		require.NoError(t, err)
		f.events[sample.Event("new", time.Hour, 2*time.Hour).ID] = sample.Event("new", time.Hour, 2*time.Hour)
	}
	events, waiting, parked := f.survey(t, j)
	if beside {
		require.Equal(t, []int{len(f.events), len(f.waiting), len(f.parked)}, []int{events, waiting, parked})
	}
}

// Events that were parked are reported again where nothing tells any more that they were, in no
// copy of any page.
func TestParkedEntriesAreLost(t *testing.T) {
	path := sample.Path(t)
	j, err := journal.Open(path, journal.Options{})
	require.NoError(t, err)
	f := filled{map[string]vms.Event{}, map[string]bool{}, map[string]bool{}}
	for i := range 300 {
		ev := sample.Event(fmt.Sprint("cam", i%7), time.Duration(i)*time.Second, time.Duration(i+2)*time.Second)
		require.NoError(t, j.Put(ev, true))
		f.events[ev.ID] = ev
	}
	const first = 50 // that is parked
	entries, err := j.Peek(300)
	require.NoError(t, err)
	for i, e := range entries {
		if f.parked[e.Event.ID] = i >= first && i%3 == 0; f.parked[e.Event.ID] {
			require.NoError(t, j.Park(e.Event.ID, e.Revision, "nobody wants it"))
		} else {
			ack(t, j, e)
		}
	}
	require.NoError(t, j.Close()) // so that no log has them
	j, err = journal.Open(path, journal.Options{})
	require.NoError(t, err)
	require.NoError(t, sample.Crash(path, j.Close))
	require.NoError(t, sample.RemoveSegments(path))
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	hits := 0
	for at := 0; at+4096 <= len(b); at += 4096 {
		if page := b[at : at+4096]; bytes.Contains(page, []byte("nobody wants it")) {
			clear(page)
			hits++
		}
	}
	require.Positive(t, hits)
	require.NoError(t, os.WriteFile(path, b, 0o600))
	j, err = journal.Open(path, journal.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, j.Close()) }()
	require.Zero(t, j.Damage().Parked)
	_, _, parked := f.survey(t, j)
	require.Positive(t, parked)
	require.LessOrEqual(t, j.Damage().Requeued, len(f.events)-first, "what was accepted before is not reported again")
}

// TestParkedUnderAWrongKey: a bit of the key of a parked entry, which has no checksum.
func TestParkedUnderAWrongKey(t *testing.T) {
	path := sample.Path(t)
	f := fill(t, path, false)
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	at := sample.ValueOf(t, b, schema.Parked)
	require.NoError(t, os.WriteFile(path, flip(at-2)(t, b), 0o600))
	j := openChecked(t, path, journal.Options{})
	require.NotNil(t, j.Damage())
	_, _, parked := f.survey(t, j)
	require.Equal(t, len(f.parked), parked)
}

func TestDamageWhileOpen(t *testing.T) {
	path := sample.Path(t)
	f := fill(t, path, true)
	j := openChecked(t, path, journal.Options{})
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	at := sample.LeafOf(t, b, schema.Events)
	_, err = file.WriteAt(make([]byte, 4096), int64(at))
	require.NoError(t, err)
	require.NoError(t, file.Close())
	// Whoever comes across the page repairs the journal and gets its answer.
	for id := range f.events {
		if _, err := j.Get(id); err != nil {
			require.ErrorIs(t, err, journal.ErrNotFound)
		}
	}
	require.NotNil(t, j.Damage())
	events, _, _ := f.survey(t, j)
	require.GreaterOrEqual(t, events, 390)
}

func TestForeignDatabase(t *testing.T) {
	path := sample.Path(t)
	db, err := bolt.Open(path, 0o600, nil)
	require.NoError(t, err)
	require.NoError(t, db.Update(func(tx *bolt.Tx) error { _, err := tx.CreateBucket([]byte("other")); return err }))
	require.NoError(t, db.Close())
	j := openChecked(t, path, journal.Options{})
	require.Contains(t, j.Damage().Cause, "not a journal")
}

func TestOtherVersion(t *testing.T) {
	for form, want := range map[byte]error{1: journal.ErrOlder, 99: journal.ErrNewer} {
		path := sample.Path(t)
		j := openChecked(t, path, journal.Options{})
		require.NoError(t, j.Close())
		ofForm(t, path, form)
		for range 2 {
			_, err := journal.Open(path, journal.Options{})
			require.ErrorIs(t, err, want, "it is left alone")
			require.ErrorContains(t, err, "move the file away")
		}
	}
}

// TestRecoveryCutOff ends a recovery at each of its steps.
func TestRecoveryCutOff(t *testing.T) {
	damagedFile := func(t *testing.T) (string, filled) {
		path := sample.Path(t)
		f := fill(t, path, false)
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, zero(0, 4096)(t, b), 0o600))
		return path, f
	}
	t.Run("while the new file is written", func(t *testing.T) {
		path, f := damagedFile(t)
		require.NoError(t, os.WriteFile(path+".recovering", []byte("half"), 0o600))
		events, _, _ := f.survey(t, openChecked(t, path, journal.Options{}))
		require.Equal(t, 400, events)
		require.NoFileExists(t, path+".recovering")
	})
	t.Run("between the two renames", func(t *testing.T) {
		path, f := damagedFile(t)
		j := openChecked(t, path, journal.Options{})
		require.NoError(t, j.Close())
		require.NoError(t, os.Rename(path, path+".recovering"))
		j = openChecked(t, path, journal.Options{})
		require.Nil(t, j.Damage())
		events, _, _ := f.survey(t, j)
		require.Equal(t, 400, events)
	})
	t.Run("only the newest damaged files are kept", func(t *testing.T) {
		path := sample.Path(t)
		now := sample.Epoch
		for range 5 {
			require.NoError(t, os.WriteFile(path, []byte("broken"), 0o600))
			now = now.Add(time.Second)
			j, err := journal.Open(path, journal.Options{Now: func() time.Time { return now }})
			require.NoError(t, err)
			require.FileExists(t, j.Damage().Aside)
			require.NoError(t, j.Close())
		}
		names, err := filepath.Glob(path + ".damaged-" + "*")
		require.NoError(t, err)
		require.Len(t, names, 2)
	})
}
