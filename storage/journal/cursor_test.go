package journal

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	bolt "go.etcd.io/bbolt"
	"pgregory.net/rapid"

	"vmsbridge/storage/journal/form"
	"vmsbridge/storage/journal/guard"
	"vmsbridge/storage/journal/sample"
	"vmsbridge/storage/journal/table"
	"vmsbridge/storage/journal/vault"
)

func cursors(t testing.TB, j *Journal, names ...string) []*Cursor {
	t.Helper()
	list, err := j.Cursors(names...)
	require.NoError(t, err)
	return list
}

// read is what a cursor reads, as "id began/newest".
func read(t testing.TB, c *Cursor) (list []string) {
	t.Helper()
	changes, err := c.Read(0, 1000)
	require.NoError(t, err)
	for i, ch := range changes {
		if i > 0 {
			require.Greater(t, ch.Place, changes[i-1].Place)
		}
		what := ch.Event.ActorID
		if ch.Began {
			what += " began"
		}
		if !ch.Newest {
			what += " old"
		}
		list = append(list, what)
	}
	return list
}

func pass(t testing.TB, c *Cursor, n int) {
	t.Helper()
	changes, err := c.Read(0, n)
	require.NoError(t, err)
	require.Len(t, changes, n)
	require.NoError(t, c.Advance(changes[n-1].Place))
}

func sequenceLen(t testing.TB, j *Journal) (entries, ids int) {
	t.Helper()
	require.NoError(t, j.file.View(func(tx *bolt.Tx) error {
		entries, ids = table.Keys(guard.Bucket(tx, form.Changes)), table.Keys(guard.Bucket(tx, form.ChangesID))
		return nil
	}))
	return entries, ids
}

func TestCursorsReadEachForTheirOwn(t *testing.T) {
	path := sample.Path(t)
	j := open(t, path, Options{})
	require.NoError(t, j.Put(sample.Event("before", 0, time.Second), true))
	entries, _ := sequenceLen(t, j)
	require.Zero(t, entries, "nobody follows")
	two := cursors(t, j, "broker", "hook")
	require.Empty(t, read(t, two[0]), "a new cursor begins behind what is there")
	<-two[0].Changed()

	require.NoError(t, j.Put(sample.Event("a", 0, sample.GoesOn), true))
	require.NoError(t, j.Put(sample.Event("b", 0, sample.GoesOn), false))
	select {
	case <-two[0].Changed():
	default:
		t.Fatal("not told of the change")
	}
	require.NoError(t, j.Put(sample.Event("a", 0, 5*time.Second), true))
	for _, c := range two {
		require.Equal(t, []string{"a began old", "b began", "a"}, read(t, c))
	}
	pass(t, two[0], 2)
	require.Equal(t, []string{"a"}, read(t, two[0]))
	require.Equal(t, []string{"a began old", "b began", "a"}, read(t, two[1]))
	requireClean(t, j)

	// The outbox has nothing to do with it.
	out, err := j.Peek(10, nil)
	require.NoError(t, err)
	_, err = j.AckAll(out)
	require.NoError(t, err)
	n, err := j.Prune(Retention{Before: sample.Epoch.Add(24 * time.Hour)})
	require.NoError(t, err)
	require.Equal(t, 1, n, "only what nobody follows may go")
	require.Equal(t, []string{"a"}, read(t, two[0]))

	// What all have passed goes.
	pass(t, two[1], 3)
	entries, ids := sequenceLen(t, j)
	require.Equal(t, []int{1, 1}, []int{entries, ids})
	pass(t, two[0], 1)
	entries, ids = sequenceLen(t, j)
	require.Equal(t, []int{0, 0}, []int{entries, ids})
	requireClean(t, j)
	n, err = j.Prune(Retention{Before: sample.Epoch.Add(24 * time.Hour)})
	require.NoError(t, err)
	require.Equal(t, 1, n, "b goes on")

	// A name that is not asked for is forgotten; one that comes back is new.
	require.NoError(t, j.Put(sample.Event("c", 0, time.Second), false))
	hook := cursors(t, j, "hook")[0]
	require.Error(t, two[0].Advance(99), "it is closed")
	require.Equal(t, []string{"c"}, read(t, hook))
	require.Empty(t, read(t, cursors(t, j, "hook", "broker")[1]))
	cursors(t, j)
	entries, ids = sequenceLen(t, j)
	require.Equal(t, []int{0, 0}, []int{entries, ids})
	_, err = j.Cursors("x", "x")
	require.Error(t, err)
}

// An event that is put again and again stays two entries, and who is behind learns of its newest form.
func TestSequenceOfChangesStaysShort(t *testing.T) {
	j := openFast(t, sample.Path(t))
	c := cursors(t, j, "home")[0]
	for i := range 50 {
		require.NoError(t, j.Put(sample.Event("a", 0, sample.GoesOn), true))
		if i == 10 {
			require.NoError(t, j.Put(sample.Event("b", 0, time.Second), true))
		}
	}
	require.Equal(t, []string{"b", "a began"}, read(t, c))
	for i := range 50 {
		require.NoError(t, j.Put(sample.Event("a", 0, time.Duration(i)*time.Second), true))
	}
	require.Equal(t, []string{"b", "a began old", "a"}, read(t, c))
	list, err := c.Read(0, 10)
	require.NoError(t, err)
	require.Equal(t, sample.Epoch.Add(49*time.Second), list[1].Event.EndTimestamp.Time, "the newest form stands at both")
	require.NoError(t, j.Put(sample.Event("a", 0, sample.GoesOn), true))
	require.Equal(t, []string{"b", "a began"}, read(t, c))
	requireClean(t, j)
}

// What was put by a clock that had not been set is not old for that.
func TestTrimAfterAnUntrueClock(t *testing.T) {
	now := time.Unix(60, 0)
	j := open(t, sample.Path(t), Options{Now: func() time.Time { return now }})
	c := cursors(t, j, "home")[0]
	require.NoError(t, j.Put(sample.Event("a", 0, time.Second), true))
	now = sample.Epoch
	require.Equal(t, sample.Epoch, c.Now())
	n, err := c.Trim(0, sample.Epoch.Add(-time.Hour))
	require.NoError(t, err)
	require.Zero(t, n)
	require.NoError(t, j.Put(sample.Event("b", 0, time.Second), true))
	n, err = c.Trim(1, sample.Epoch.Add(-time.Hour))
	require.NoError(t, err)
	require.Equal(t, 1, n)
}

// What is put before its time is known is told as such, and again when it is.
func TestCursorsAndProvisionalEvents(t *testing.T) {
	j := open(t, sample.Path(t), Options{})
	c := cursors(t, j, "home")[0]
	require.NoError(t, j.PutProvisional(sample.Event("a", 0, sample.GoesOn), true, 3))
	list, err := c.Read(0, 10)
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.True(t, list[0].Untrue)
	old := list[0]
	_, _, err = j.Settle(3, time.Hour, nil)
	require.NoError(t, err)
	list, err = c.Read(0, 10)
	require.NoError(t, err)
	require.Len(t, list, 1, "in place of the other")
	require.False(t, list[0].Untrue)
	require.Greater(t, list[0].Place, old.Place)
	require.NotEqual(t, old.Event.ID, list[0].Event.ID)
	require.True(t, list[0].Began)
	requireClean(t, j)
}

func TestTrimOfChanges(t *testing.T) {
	now := sample.Epoch
	j := open(t, sample.Path(t), Options{Now: func() time.Time { return now }})
	two := cursors(t, j, "dead", "alive")
	for i := range 20 {
		now = sample.Epoch.Add(time.Duration(i) * time.Minute)
		require.NoError(t, j.Put(sample.Event(fmt.Sprint(i), 0, time.Second), true))
	}
	n, err := two[0].Trim(20, sample.Epoch)
	require.NoError(t, err)
	require.Zero(t, n)
	n, err = two[0].Trim(15, time.Time{})
	require.NoError(t, err)
	require.Equal(t, 5, n)
	require.Equal(t, "5", read(t, two[0])[0], "the oldest went")
	n, err = two[0].Trim(0, sample.Epoch.Add(12*time.Minute))
	require.NoError(t, err)
	require.Equal(t, 7, n)
	l, err := two[0].Lag(0)
	require.NoError(t, err)
	require.Equal(t, Lag{Waiting: 8, Oldest: sample.Epoch.Add(12 * time.Minute), Skipped: 12}, l)
	list, err := two[0].Read(0, 3)
	require.NoError(t, err)
	l, err = two[0].Lag(list[2].Place)
	require.NoError(t, err)
	require.Equal(t, Lag{Waiting: 5, Oldest: sample.Epoch.Add(15 * time.Minute), Skipped: 12}, l)
	require.Len(t, read(t, two[1]), 20, "the other one loses nothing")
	pass(t, two[1], 20)
	entries, _ := sequenceLen(t, j)
	require.Equal(t, 8, entries)
	requireClean(t, j)
}

// What cursors promise lasts over a restart, a file of before they were, a compaction and a recovery.
func TestCursorsLast(t *testing.T) {
	path := sample.Path(t)
	j, err := Open(path, Options{CompactAbove: 1})
	require.NoError(t, err)
	c := cursors(t, j, "home")[0]
	for i := range 30 {
		require.NoError(t, j.Put(sample.Event(fmt.Sprint(i), 0, sample.GoesOn), true))
	}
	pass(t, c, 10)
	require.NoError(t, j.Put(sample.Event("0", 0, time.Second), true))
	want := read(t, c)
	require.Len(t, want, 21)
	before, err := c.Read(0, 100)
	require.NoError(t, err)
	_, err = j.file.Compact(t.Context())
	require.NoError(t, err)
	require.Equal(t, want, read(t, c))
	requireClean(t, j)
	require.NoError(t, j.Close())

	again := open(t, path, Options{})
	require.NoError(t, again.Put(sample.Event("late", 0, time.Second), true), "before the cursors are opened")
	c = cursors(t, again, "home")[0]
	require.Equal(t, append(slices.Clone(want), "late"), read(t, c))
	list, err := c.Read(before[len(before)-1].Place, 10)
	require.NoError(t, err)
	require.Len(t, list, 1, "places go on")
	require.NoError(t, again.Close())

	// A byte of an event is damaged: the others are still told of.
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	b[sample.ValueOf(t, b, form.Events)+100] ^= 4
	require.NoError(t, os.WriteFile(path, b, 0o600))
	h, err := vault.Hold(path, time.Second)
	require.NoError(t, err)
	d, err := h.Repair(vault.Options{})
	require.NoError(t, err)
	require.NotNil(t, d)
	require.NoError(t, h.Close())
	hurt := open(t, path, Options{})
	c = cursors(t, hurt, "home")[0]
	require.GreaterOrEqual(t, len(read(t, c)), 20)
	pass(t, c, len(read(t, c)))
	require.NoError(t, hurt.Put(sample.Event("after", 0, time.Second), true))
	require.Equal(t, []string{"after"}, read(t, c))
}

// Damage to the sequence or to a cursor costs that home what it had still to read there, and no more.
func TestDamageToCursors(t *testing.T) {
	for name, bucket := range map[string][]byte{"an entry": form.Changes, "a cursor": form.Meta} {
		t.Run(name, func(t *testing.T) {
			path := sample.Path(t)
			j, err := Open(path, Options{})
			require.NoError(t, err)
			cursors(t, j, "home")
			for i := range 20 {
				require.NoError(t, j.Put(sample.Event(fmt.Sprint(i), 0, time.Second), true))
			}
			require.NoError(t, j.Close())
			b, err := os.ReadFile(path)
			require.NoError(t, err)
			b[sample.ValueOf(t, b, bucket)+8] ^= 4
			require.NoError(t, os.WriteFile(path, b, 0o600))
			h, err := vault.Hold(path, time.Second)
			require.NoError(t, err)
			d, err := h.Repair(vault.Options{})
			require.NoError(t, err)
			require.NotNil(t, d)
			require.NoError(t, h.Close())
			hurt := open(t, path, Options{})
			c := cursors(t, hurt, "home")[0]
			if name == "an entry" {
				require.Len(t, read(t, c), 19)
			} else {
				require.Empty(t, read(t, c), "it begins anew")
			}
			require.NoError(t, hurt.Put(sample.Event("after", 0, time.Second), true))
			require.Contains(t, read(t, c), "after")
			st, err := hurt.OutboxStats()
			require.NoError(t, err)
			require.Equal(t, 21, st.Waiting, "the outbox has nothing to do with it")
		})
	}
	// Found while it is open: who asked for the cursor goes on with a new one.
	j := openFast(t, sample.Path(t))
	c := cursors(t, j, "home")[0]
	require.NoError(t, j.file.Do(func(t *table.Tx) error { return t.Bucket(form.Meta).Delete(c.key) }))
	require.Empty(t, read(t, c))
	require.NoError(t, j.Put(sample.Event("after", 0, time.Second), true))
	require.Equal(t, []string{"after"}, read(t, c))
}

// A file of before there were cursors opens as it is.
func TestCursorsInAnOlderFile(t *testing.T) {
	path := sample.Path(t)
	j, err := Open(path, Options{})
	require.NoError(t, err)
	require.NoError(t, j.Put(sample.Event("a", 0, time.Second), true))
	require.NoError(t, j.file.Do(func(t *table.Tx) error {
		for _, name := range form.LaterBuckets {
			if err := t.DeleteBucket(name); err != nil {
				return err
			}
		}
		return nil
	}))
	require.NoError(t, j.Close())
	h, err := vault.Hold(path, time.Second)
	require.NoError(t, err)
	r, err := h.Check()
	require.NoError(t, err)
	require.Empty(t, r.Problems)
	require.NoError(t, h.Close())
	old := open(t, path, Options{})
	require.Nil(t, old.Damage())
	c := cursors(t, old, "home")[0]
	require.NoError(t, old.Put(sample.Event("b", 0, time.Second), true))
	require.Equal(t, []string{"b"}, read(t, c))
}

// TestCursorsAgainstAModel puts, passes, trims, prunes and reopens at random, and compares with slices.
func TestCursorsAgainstAModel(t *testing.T) {
	if f := flag.Lookup("rapid.checks"); f.Value.String() == f.DefValue {
		defer func() { require.NoError(t, f.Value.Set(f.DefValue)) }()
		require.NoError(t, f.Value.Set("25"))
	}
	type entry struct {
		id    string
		began bool
	}
	dir := sample.Folder(t)
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		path := filepath.Join(dir, fmt.Sprint(n))
		j, err := Open(path, Options{})
		require.NoError(rt, err)
		defer func() { _ = j.Close() }()
		names := []string{"x", "y"}
		list, err := j.Cursors(names...)
		require.NoError(rt, err)
		var log []entry
		at := []int{0, 0} // entries passed, of log
		newest := func(i int) bool {
			return !slices.ContainsFunc(log[i+1:], func(e entry) bool { return e.id == log[i].id })
		}
		rt.Repeat(map[string]func(*rapid.T){
			"put": func(rt *rapid.T) {
				actor := rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(rt, "actor")
				ev := sample.Event(actor, 0, time.Second)
				if rapid.Bool().Draw(rt, "ongoing") {
					ev.EndTimestamp = nil
				}
				require.NoError(rt, j.Put(ev, rapid.Bool().Draw(rt, "report")))
				for i := 0; i < len(log); i++ {
					if log[i].id == ev.ID && (log[i].began == ev.Ongoing() || ev.Ongoing()) {
						log = slices.Delete(log, i, i+1)
						for c := range at {
							if at[c] > i {
								at[c]--
							}
						}
						i--
					}
				}
				log = append(log, entry{ev.ID, ev.Ongoing()})
			},
			"pass": func(rt *rapid.T) {
				c := rapid.IntRange(0, 1).Draw(rt, "cursor")
				left := len(log) - at[c]
				if left == 0 {
					return
				}
				k := rapid.IntRange(1, left).Draw(rt, "n")
				changes, err := list[c].Read(0, k)
				require.NoError(rt, err)
				require.Len(rt, changes, k)
				require.NoError(rt, list[c].Advance(changes[k-1].Place))
				at[c] += k
			},
			"trim": func(rt *rapid.T) {
				c, most := rapid.IntRange(0, 1).Draw(rt, "cursor"), rapid.IntRange(1, 5).Draw(rt, "most")
				skipped, err := list[c].Trim(most, time.Time{})
				require.NoError(rt, err)
				require.Equal(rt, max(0, len(log)-at[c]-most), skipped)
				at[c] += skipped
			},
			"prune": func(rt *rapid.T) {
				_, err := j.Prune(Retention{Before: sample.Epoch.Add(time.Hour)})
				require.NoError(rt, err)
			},
			"reopen": func(rt *rapid.T) {
				r, err := j.Check()
				require.NoError(rt, err)
				require.Empty(rt, r.Problems)
				require.NoError(rt, j.Close())
				j, err = Open(path, Options{})
				require.NoError(rt, err)
				require.Nil(rt, j.Damage())
				list, err = j.Cursors(names...)
				require.NoError(rt, err)
			},
			"": func(rt *rapid.T) {
				for c := range names {
					changes, err := list[c].Read(0, 1000)
					require.NoError(rt, err)
					require.Len(rt, changes, len(log)-at[c])
					for i, ch := range changes {
						e := log[at[c]+i]
						require.Equal(rt, e, entry{ch.Event.ID, ch.Began})
						require.Equal(rt, newest(at[c]+i), ch.Newest)
					}
				}
			},
		})
	})
}
