package journal

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"vmsbridge/storage/journal/file"
	"vmsbridge/storage/journal/sample"
	"vmsbridge/storage/journal/schema"
	"vmsbridge/uplink/vms"
)

// open opens a journal and checks it, again at the end of the test.
func open(t testing.TB, path string, opts Options) *Journal {
	t.Helper()
	j, err := Open(path, opts)
	require.NoError(t, err)
	requireClean(t, j)
	t.Cleanup(func() { require.NoError(t, j.Close()) })
	return j
}

// ack is AckAll of one event.
func ack(j *Journal, id string, revision uint64) error {
	_, err := j.AckAll([]Entry{{Event: vms.Event{ID: id}, Revision: revision}})
	return err
}

// touch is TouchAll of one event.
func touch(j *Journal, id string, last time.Time) error {
	return j.TouchAll(map[string]time.Time{id: last})
}

func requireClean(t testing.TB, j *Journal) {
	t.Helper()
	r, err := j.Check()
	require.NoError(t, err)
	require.Empty(t, r.Problems)
}

func TestPutGetReopen(t *testing.T) {
	path := sample.Path(t)
	j := open(t, path, Options{Registerer: prometheus.NewRegistry()})
	ev := sample.Event("cam", 0, time.Second)
	require.NoError(t, j.Put(ev, true))
	got, err := j.Get(ev.ID)
	require.NoError(t, err)
	require.Equal(t, ev, got)
	_, err = j.Get("other")
	require.ErrorIs(t, err, ErrNotFound)
	_, err = j.Get("")
	require.ErrorIs(t, err, ErrNotFound)

	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	require.NoError(t, j.Close())
	require.NoError(t, j.Close())
	_, err = j.Get(ev.ID)
	require.ErrorIs(t, err, ErrClosed)
	require.ErrorIs(t, j.Put(ev, true), ErrClosed)

	j = open(t, path, Options{})
	require.Nil(t, j.Damage())
	got, err = j.Get(ev.ID)
	require.NoError(t, err)
	require.Equal(t, ev, got)
	select {
	case <-j.Changed():
	default:
		t.Fatal("Changed says nothing of what waits since before Open")
	}
}

func TestPutReplaces(t *testing.T) {
	j := open(t, sample.Path(t), Options{})
	ev := sample.Event("cam", 0, sample.GoesOn)
	require.NoError(t, j.Put(ev, true))
	ended := ev
	ended.EndTimestamp = vms.Ptr(sample.Epoch.Add(3 * time.Second))
	require.NoError(t, j.Put(ended, true))
	page, err := j.List(vms.Query{}, nil)
	require.NoError(t, err)
	require.Equal(t, []vms.Event{ended}, page.Events)
	require.Equal(t, 1, page.Total)

	// The same id with another start, actor and type is listed in its new places only.
	moved := ended
	moved.StartTimestamp, moved.ActorID, moved.Type = vms.At(sample.Epoch.Add(time.Second)), "cam2", vms.TypeTamper
	require.NoError(t, j.Put(moved, false))
	page, err = j.List(vms.Query{Actors: []vms.Actor{{Type: "camera", ID: "cam"}}}, nil)
	require.NoError(t, err)
	require.Empty(t, page.Events)
	page, err = j.List(vms.Query{Types: []string{vms.TypeTamper}}, nil)
	require.NoError(t, err)
	require.Equal(t, []vms.Event{moved}, page.Events)
	requireClean(t, j)
}

func TestPutRefuses(t *testing.T) {
	j := open(t, sample.Path(t), Options{})
	change := func(f func(*vms.Event)) vms.Event {
		ev := sample.Event("cam", 0, time.Second)
		f(&ev)
		return ev
	}
	for name, ev := range map[string]vms.Event{
		"no id":    change(func(ev *vms.Event) { ev.ID = "" }),
		"no type":  change(func(ev *vms.Event) { ev.Type = "" }),
		"no actor": change(func(ev *vms.Event) { ev.ActorID = "" }),
		"no start": change(func(ev *vms.Event) { ev.StartTimestamp = vms.Time{} }),
		"ends too early": change(func(ev *vms.Event) {
			ev.EndTimestamp = vms.Ptr(sample.Epoch.Add(-time.Millisecond))
		}),
		"id not UTF-8": change(func(ev *vms.Event) { ev.ID = "a\xff" }),
		"long id":      change(func(ev *vms.Event) { ev.ID = string(make([]byte, 5000)) }),
		"year 10000": change(func(ev *vms.Event) {
			ev.EndTimestamp = vms.Ptr(time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC))
		}),
		"empty data item": change(func(ev *vms.Event) { ev.Data = []vms.Data{{}} }),
		"too big":         change(func(ev *vms.Event) { ev.AccountID = string(make([]byte, 1<<20)) }),
	} {
		require.ErrorIs(t, j.Put(ev, true), schema.ErrInvalid, name)
	}
	s, err := j.OutboxStats()
	require.NoError(t, err)
	require.Zero(t, s.Waiting)
}

func TestOddIDs(t *testing.T) {
	j := open(t, sample.Path(t), Options{})
	ids := []string{"a", "a\x00", "a\x00b", "\x00", "ä/ü ?&%+", "\u2028", "camera:1-2026-11-21T07:00:00.000+00:00",
		"<>\"'"}
	for i, id := range ids {
		ev := sample.Event("cam", 0, time.Second)
		ev.ID, ev.ActorID = id, ids[(i+1)%len(ids)]
		require.NoError(t, j.Put(ev, true))
		got, err := j.Get(id)
		require.NoError(t, err)
		require.Equal(t, ev, got)
		page, err := j.List(vms.Query{Actors: []vms.Actor{{Type: "camera", ID: ev.ActorID}}}, nil)
		require.NoError(t, err)
		require.Equal(t, []vms.Event{ev}, page.Events, "actor %q", ev.ActorID)
	}
	entries, err := j.Peek(100)
	require.NoError(t, err)
	require.Len(t, entries, len(ids))
	requireClean(t, j)
}

func TestOutbox(t *testing.T) {
	now := sample.Epoch
	j := open(t, sample.Path(t), Options{Now: func() time.Time { return now }})
	a, b, c := sample.Event("a", 0, sample.GoesOn), sample.Event("b", time.Second, 2*time.Second),
		sample.Event("a", 3*time.Second, sample.GoesOn)
	for _, ev := range []vms.Event{a, b, c} {
		require.NoError(t, j.Put(ev, true))
		now = now.Add(time.Minute)
	}
	require.NoError(t, j.Put(sample.Event("a", -time.Hour, 0), false))

	ids := func(entries []Entry) (list []string) {
		for _, e := range entries {
			list = append(list, e.Event.ID)
		}
		return list
	}
	first, err := j.Peek(10)
	require.NoError(t, err)
	require.Equal(t, []string{a.ID, b.ID, c.ID}, ids(first))
	require.Equal(t, sample.Epoch, first[0].Since)

	// A renewal keeps its place and its age, and outdates the revision that was read.
	ended := a
	ended.EndTimestamp = vms.Ptr(sample.Epoch.Add(time.Second))
	require.NoError(t, j.Put(ended, true))
	require.NoError(t, ack(j, a.ID, first[0].Revision))
	second, err := j.Peek(1)
	require.NoError(t, err)
	require.Equal(t,
		[]Entry{{Event: ended, Place: first[0].Place, Revision: second[0].Revision, Since: sample.Epoch}},
		second)
	require.Greater(t, second[0].Revision, first[0].Revision)

	require.NoError(t, ack(j, a.ID, second[0].Revision))
	require.NoError(t, ack(j, a.ID, second[0].Revision), "a second time is no error")
	require.NoError(t, ack(j, "unknown", 1))
	require.NoError(t, j.Park(b.ID, first[1].Revision, "no such camera"))
	s, err := j.OutboxStats()
	require.NoError(t, err)
	require.Equal(t, Stats{Waiting: 1, Parked: 1, Oldest: sample.Epoch.Add(2 * time.Minute), Events: 4, Bytes: s.Bytes,
		Free: s.Free}, s)

	parked, err := j.Parked()
	require.NoError(t, err)
	require.Equal(t, []ParkedEntry{{Event: b, Reason: "no such camera", At: now, Since: sample.Epoch.Add(time.Minute)}},
		parked)
	require.ErrorIs(t, j.Retry(c.ID), ErrNotFound)
	require.NoError(t, j.Retry(b.ID))
	third, err := j.Peek(10)
	require.NoError(t, err)
	require.Equal(t, []string{c.ID, b.ID}, ids(third))

	require.NoError(t, j.Drop(c.ID))
	require.ErrorIs(t, j.Drop(c.ID), ErrNotFound)
	require.NoError(t, j.Park(b.ID, third[1].Revision, "again"))
	require.NoError(t, j.Put(b, true), "a renewal takes it out of the parked ones")
	parked, err = j.Parked()
	require.NoError(t, err)
	require.Empty(t, parked)
	fourth, err := j.Peek(10)
	require.NoError(t, err)
	require.Equal(t, []string{b.ID}, ids(fourth))
	require.NoError(t, j.Park(b.ID, fourth[0].Revision, "again"))
	require.NoError(t, j.Drop(b.ID))
	_, err = j.Get(b.ID)
	require.NoError(t, err, "dropping is about reporting only")
	requireClean(t, j)
}

func TestChangedAndSubscribe(t *testing.T) {
	j := open(t, sample.Path(t), Options{})
	var got []string
	cancel := j.Subscribe(func(ev vms.Event) {
		_, err := j.Get(ev.ID) // it is durable, and reading is allowed here
		require.NoError(t, err)
		got = append(got, ev.ID)
	})
	a, b := sample.Event("a", 0, 0), sample.Event("b", 0, 0)
	require.NoError(t, j.Put(a, false))
	require.Empty(t, j.Changed())
	require.NoError(t, j.Put(b, true))
	require.Len(t, j.Changed(), 1)
	require.Equal(t, []string{a.ID, b.ID}, got)
	cancel()
	cancel()
	require.NoError(t, j.Put(a, false))
	require.Len(t, got, 2)
}

func TestTouchAndUnfinished(t *testing.T) {
	path := sample.Path(t)
	j := open(t, path, Options{})
	a, b := sample.Event("a", 0, sample.GoesOn), sample.Event("b", 0, sample.GoesOn)
	require.NoError(t, j.Put(a, true))
	require.NoError(t, j.Put(b, true))
	require.NoError(t, touch(j, a.ID, sample.Epoch.Add(5*time.Second)))
	require.NoError(t, touch(j, a.ID, sample.Epoch.Add(4*time.Second)), "an earlier one changes nothing")
	require.NoError(t, j.Put(a, true), "nor does a renewal")
	require.NoError(t, touch(j, "unknown", sample.Epoch), "one that is not there changes nothing")
	require.NoError(t, j.Close())

	j = open(t, path, Options{})
	list, err := j.Unfinished()
	require.NoError(t, err)
	require.Equal(t, []Ongoing{{a, sample.Epoch.Add(5 * time.Second)}, {b, sample.Epoch}}, list)
	a.EndTimestamp = vms.Ptr(sample.Epoch.Add(5 * time.Second))
	require.NoError(t, j.Put(a, true))
	require.NoError(t, touch(j, a.ID, sample.Epoch.Add(time.Hour)), "a late touch of an ended event is harmless")
	list, err = j.Unfinished()
	require.NoError(t, err)
	require.Equal(t, []Ongoing{{b, sample.Epoch}}, list)
	requireClean(t, j)
}

func TestMeta(t *testing.T) {
	path := sample.Path(t)
	j := open(t, path, Options{})
	require.NoError(t, j.SetMeta("boot", []byte("17")))
	require.Error(t, j.SetMeta("", []byte("x")))
	require.NoError(t, j.Close())
	j = open(t, path, Options{})
	v, err := j.Meta("boot")
	require.NoError(t, err)
	require.Equal(t, []byte("17"), v)
	require.NoError(t, j.SetMeta("boot", nil))
	v, err = j.Meta("boot")
	require.NoError(t, err)
	require.Nil(t, v)
}

func TestPrune(t *testing.T) {
	j := open(t, sample.Path(t), Options{})
	old, recent := sample.Event("a", -48*time.Hour, -47*time.Hour), sample.Event("b", -time.Hour, 0)
	long := sample.Event("c", -48*time.Hour, -time.Minute) // began early, ended lately
	ongoing := sample.Event("d", -48*time.Hour, sample.GoesOn)
	waiting := sample.Event("e", -48*time.Hour, -47*time.Hour)
	parked := sample.Event("f", -48*time.Hour, -47*time.Hour)
	for _, ev := range []vms.Event{old, recent, long, ongoing} {
		require.NoError(t, j.Put(ev, false))
	}
	require.NoError(t, j.Put(parked, true))
	entries, err := j.Peek(1)
	require.NoError(t, err)
	require.NoError(t, j.Park(parked.ID, entries[0].Revision, "no"))
	require.NoError(t, j.Put(waiting, true))
	many := make([]vms.Event, 0, pruneBatch*2+10)
	for i := range cap(many) {
		many = append(many, sample.Event(fmt.Sprint("m", i), -40*time.Hour, -30*time.Hour))
	}
	putAll(t, j, many)

	n, err := j.Prune(Retention{Before: sample.Epoch.Add(-24 * time.Hour)})
	require.NoError(t, err)
	require.Equal(t, 1+len(many), n)
	page, err := j.List(vms.Query{Ascending: true}, nil)
	require.NoError(t, err)
	require.Equal(t, []vms.Event{long, ongoing, waiting, parked, recent}, page.Events)
	requireClean(t, j)

	n, err = j.Prune(Retention{Before: sample.Epoch.Add(-24 * time.Hour)})
	require.NoError(t, err)
	require.Zero(t, n)
}

// putAll stores events quickly: many writers share the transactions.
func putAll(t testing.TB, j *Journal, list []vms.Event) {
	t.Helper()
	errs := make(chan error, 32)
	for w := range cap(errs) {
		go func() {
			for i := w; i < len(list); i += cap(errs) {
				if err := j.Put(list[i], false); err != nil {
					errs <- err
					return
				}
			}
			errs <- nil
		}()
	}
	for range cap(errs) {
		require.NoError(t, <-errs)
	}
}

func TestLockedByAnother(t *testing.T) {
	path := sample.Path(t)
	open(t, path, Options{})
	_, err := Open(path, Options{LockTimeout: time.Millisecond})
	require.ErrorIs(t, err, ErrLocked)
	require.ErrorContains(t, err, "already running")
}

func TestNoDirectory(t *testing.T) {
	_, err := Open(filepath.Join(t.TempDir(), "missing", "j.db"), Options{})
	require.ErrorIs(t, err, os.ErrNotExist)
}

// putMany puts events in few transactions.
func putMany(t testing.TB, j *Journal, list []vms.Event) {
	t.Helper()
	for part := range slices.Chunk(list, 5000) {
		require.NoError(t, j.PutAll(part, false))
	}
}

// After a crash each event that goes on ends where it was last noted to go on, also one that was
// settled meanwhile or is stored again, and one of which only its first note is known.
func TestUnfinishedAfterACrash(t *testing.T) {
	path := sample.Path(t)
	j := open(t, path, Options{})
	a, b, c := sample.Event("a", 0, sample.GoesOn), sample.Event("b", 0, sample.GoesOn),
		sample.Event("c", -time.Hour, sample.GoesOn)
	require.NoError(t, j.Put(a, true))
	for _, err := range j.Write(Record{Event: b, Report: true, Last: sample.Epoch.Add(300 * time.Millisecond)},
		Record{Event: c, Era: 3}) {
		require.NoError(t, err)
	}
	require.NoError(t,
		j.TouchAll(map[string]time.Time{a.ID: sample.Epoch.Add(7 * time.Second),
			c.ID: sample.Epoch.Add(9*time.Second - time.Hour), "unknown": sample.Epoch}))
	require.NoError(t, j.TouchAll(map[string]time.Time{a.ID: sample.Epoch.Add(8 * time.Second)}))
	_, last, ok, err := j.Extent(3)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, sample.Epoch.Add(9*time.Second-time.Hour), last.UTC())
	_, _, err = j.Settle(3, time.Hour, nil)
	require.NoError(t, err)
	want := map[string]time.Duration{"a": 8 * time.Second, "b": 300 * time.Millisecond, "c": 9 * time.Second}
	check := func(j *Journal) {
		t.Helper()
		list, err := j.Unfinished()
		require.NoError(t, err)
		require.Len(t, list, 3)
		for _, o := range list {
			require.Equal(t, want[o.Event.ActorID], o.Last.Sub(sample.Epoch), o.Event.ActorID)
		}
	}
	check(j)
	// What a crash leaves: both files as they are now.
	crashed := filepath.Join(t.TempDir(), "journal.db")
	for _, suffix := range []string{"", file.LogSuffix} {
		content, err := os.ReadFile(path + suffix)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(crashed+suffix, content, 0o600))
	}
	again := open(t, crashed, Options{})
	check(again)
	require.NoError(t, again.Close())
	require.NoError(t, j.Close())
	require.NoFileExists(t, path+file.LogSuffix, "what was closed in good order is one file")
	check(open(t, path, Options{}))
}
