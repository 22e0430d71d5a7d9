package postgres

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"vmsbridge/storage/journal"
	"vmsbridge/storage/journal/sample"
	"vmsbridge/uplink/delivery"
	"vmsbridge/uplink/vms"
)

// followers are the cursors of both keepers of events, by their names.
type followers func(names ...string) (map[string]delivery.Feed, error)

func followersOf[C delivery.Feed](open func(...string) ([]C, error)) followers {
	return func(names ...string) (map[string]delivery.Feed, error) {
		list, err := open(names...)
		byName := map[string]delivery.Feed{}
		for i, c := range list {
			byName[names[i]] = c
		}
		return byName, err
	}
}

// followed runs a test over the cursors of each keeper, with a clock of the test's.
func followed(t *testing.T, now *time.Time, test func(*testing.T, book, followers)) {
	clock := func() time.Time { return *now }
	t.Run("journal", func(t *testing.T) {
		j, err := journal.Open(filepath.Join(t.TempDir(), "events.db"), journal.Options{Now: clock})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, j.Close()) })
		test(t, j, followersOf(j.Cursors))
	})
	t.Run("postgres", func(t *testing.T) {
		db, address := open(t)
		db.Close()
		db, err := Open(t.Context(), address, Options{Now: clock})
		require.NoError(t, err)
		t.Cleanup(db.Close)
		e, err := db.Events()
		require.NoError(t, err)
		test(t, e, followersOf(e.Cursors))
	})
}

// Lives of cursors of both keepers beside lists: each reads what was put since it was opened, in
// that order, each event once and as it is now, until it has passed it or it was trimmed; what no
// name is given for is forgotten.
func TestCursorsAgainstModel(t *testing.T) {
	sample.Lives(t, 6)
	now := zero
	followed(t, &now, func(t *testing.T, b book, open followers) {
		rapid.Check(t, func(t *rapid.T) {
			_, err := b.Forget(func(vms.Actor) bool { return true })
			require.NoError(t, err)
			_, err = open()
			require.NoError(t, err)
			type entry struct {
				n  int
				ev vms.Event
				at time.Time
			}
			var all []entry
			n := 0
			stands, skipped := map[string]int{}, map[string]int{}
			cursors := map[string]delivery.Feed{}
			some := func(t *rapid.T) string {
				names := slices.Sorted(maps.Keys(cursors))
				if len(names) == 0 {
					t.Skip("no cursor is open; rapid tries another step")
				}
				return rapid.SampledFrom(names).Draw(t, "cursor")
			}
			waiting := func(name string) (list []entry) {
				for _, e := range all {
					if e.n > stands[name] {
						list = append(list, e)
					}
				}
				return list
			}
			t.Repeat(map[string]func(*rapid.T){
				"open": func(t *rapid.T) {
					known := rapid.SampledFrom([]string{"streams", "webhook/1", "webhook/2"})
					names := rapid.SliceOfNDistinct(known, 0, 3, rapid.ID[string]).Draw(t, "names")
					cursors, err = open(names...)
					require.NoError(t, err)
					for _, name := range names {
						if _, open := stands[name]; !open {
							stands[name] = n
						}
					}
					for name := range stands {
						if !slices.Contains(names, name) {
							delete(stands, name)
							delete(skipped, name)
						}
					}
				},
				"put": func(t *rapid.T) {
					now = now.Add(time.Second)
					var batch []vms.Event
					for range rapid.IntRange(1, 6).Draw(t, "events") {
						ev := someEvent(t)
						length := time.Duration(rapid.IntRange(0, 1).Draw(t, "length")) * time.Second
						ev.EndTimestamp = vms.Ptr(ev.StartTimestamp.Add(length))
						all = slices.DeleteFunc(all, func(e entry) bool { return e.ev.ID == ev.ID })
						n++
						batch, all = append(batch, ev), append(all, entry{n, ev, now})
					}
					require.NoError(t, b.PutAll(batch, false))
					for name, c := range cursors {
						select {
						case <-c.Changed():
						default:
							t.Fatalf("%s was not told", name)
						}
					}
				},
				"read": func(t *rapid.T) {
					name := some(t)
					want, most := waiting(name), rapid.IntRange(1, 8).Draw(t, "most")
					var after uint64
					var got []vms.Event
					var places []uint64
					for {
						list, err := cursors[name].Read(after, most)
						require.NoError(t, err)
						require.LessOrEqual(t, len(list), most)
						if len(list) == 0 {
							break
						}
						for _, q := range list {
							require.Greater(t, q.Place, after)
							require.True(t, q.Newest)
							require.Equal(t, want[len(got)].at.UnixMilli(), q.Since.UnixMilli())
							after, got, places = q.Place, append(got, q.Event), append(places, q.Place)
						}
					}
					var events []vms.Event
					for _, e := range want {
						events = append(events, e.ev)
					}
					same(t, events, got)
					if len(want) == 0 {
						return
					}
					passed := rapid.IntRange(0, len(want)).Draw(t, "passed")
					of := uint64(0)
					if passed > 0 {
						of = places[passed-1]
					}
					lag, err := cursors[name].Lag(of)
					require.NoError(t, err)
					require.Equal(t, len(want)-passed, lag.Waiting)
					require.Equal(t, skipped[name], int(lag.Skipped))
					if passed == len(want) {
						require.Zero(t, lag.Oldest)
					} else {
						require.Equal(t, want[passed].at.UnixMilli(), lag.Oldest.UnixMilli())
					}
					if passed > 0 {
						require.NoError(t, cursors[name].Advance(of))
						require.NoError(t, cursors[name].Advance(places[0]), "it goes never back")
						stands[name] = want[passed-1].n
					}
				},
				"trim": func(t *rapid.T) {
					name := some(t)
					most, before := rapid.IntRange(0, 5).Draw(t, "most"), time.Time{}
					if rapid.Bool().Draw(t, "by age") {
						before = now.Add(-time.Duration(rapid.IntRange(0, 3).Draw(t, "age")) * time.Second)
					}
					want := 0
					list := waiting(name)
					for i, e := range list {
						if most > 0 && len(list)-i > most || e.at.Before(before) {
							stands[name] = e.n
							want++
						}
					}
					skipped[name] += want
					got, err := cursors[name].Trim(most, before)
					require.NoError(t, err)
					require.Equal(t, want, got)
				},
			})
		})
	})
}

// What is passed by all, and what was put while nobody followed, takes no room.
func TestChangesAreConsumed(t *testing.T) {
	db, _ := open(t)
	e, err := db.Events()
	require.NoError(t, err)
	kept := func() (n int) {
		require.NoError(t, db.pool.QueryRow(t.Context(), `select count(*) from vms_changes`).Scan(&n))
		return n
	}
	require.NoError(t, e.PutAll(list(event("a/cam", zero)), false))
	require.Zero(t, kept(), "nobody follows")
	two, err := e.Cursors("one", "two")
	require.NoError(t, err)
	require.NoError(t, e.PutAll(list(event("a/cam", zero), event("a/cam2", zero)), false))
	require.Equal(t, 2, kept())
	read := readAll(t, two[0])
	require.NoError(t, two[0].Advance(read[1].Place))
	require.Equal(t, 2, kept())
	require.NoError(t, two[1].Advance(read[0].Place))
	require.Equal(t, 1, kept())
	again, err := e.Cursors("two", "three")
	require.NoError(t, err)
	require.Same(t, two[1], again[0])
	require.Equal(t, []string{"a/cam2"}, []string{readAll(t, two[1])[0].Event.ActorID})
	require.Empty(t, readAll(t, again[1]), "it begins behind what is there")
	_, err = e.Forget(func(a vms.Actor) bool { return a.ID == "a/cam2" })
	require.NoError(t, err)
	require.Empty(t, readAll(t, two[1]), "what is gone is passed over")
	_, err = two[0].Read(0, 1)
	require.ErrorContains(t, err, `"one": it was forgotten`)
	require.ErrorContains(t, two[0].Advance(9), "it was forgotten")
	require.NoError(t, e.Failing(), "that is not the database's fault")
	_, err = e.Cursors()
	require.NoError(t, err)
	require.Zero(t, kept())
	_, err = e.Cursors("x", "x")
	require.ErrorContains(t, err, "a name of its own")
}

func readAll(t *testing.T, c *Cursor) []vms.Queued {
	t.Helper()
	list, err := c.Read(0, 1000)
	require.NoError(t, err)
	return list
}

// An event whose transaction ends after that of a later one is not passed over: the later one
// waits for it. Who waits is woken when it is there.
func TestCursorsWaitForTransactions(t *testing.T) {
	db, _ := open(t)
	e, err := db.Events()
	require.NoError(t, err)
	cursors, err := e.Cursors("one")
	require.NoError(t, err)
	c := cursors[0]
	<-c.Changed()
	first, second := event("a/first", zero), event("a/second", zero)
	row, err := seal(first)
	require.NoError(t, err)
	stored, goOn := make(chan struct{}), make(chan struct{})
	commit := sync.OnceFunc(func() { close(goOn) })
	defer commit()
	ended := make(chan error, 1)
	go func() {
		ended <- db.write(readCommitted, func(ctx context.Context, conn *pgx.Conn) error {
			err := e.put(ctx, conn, []sealed{row})
			close(stored)
			<-goOn
			return err
		})
	}()
	<-stored
	require.NoError(t, e.PutAll(list(second), false))
	require.Empty(t, readAll(t, c), "the first one is not there yet")
	skipped, err := c.Trim(0, zero.Add(time.Hour))
	require.NoError(t, err)
	require.Zero(t, skipped, "what cannot be read yet is not given up")
	commit()
	require.NoError(t, <-ended)
	var got []string
	for len(got) < 2 {
		select {
		case <-c.Changed():
		case <-time.After(time.Minute):
			t.Fatalf("nothing wakes it; it has %v", got)
		}
		got = nil
		for _, q := range readAll(t, c) {
			got = append(got, q.Event.ActorID)
		}
	}
	require.Equal(t, []string{"a/first", "a/second"}, got)
}

// A database that was restored into a server whose transactions have lower numbers goes on: what
// waited still waits, in its order, and what is put then comes behind it.
func TestCursorsInARestoredDatabase(t *testing.T) {
	db, _ := open(t)
	e, err := db.Events()
	require.NoError(t, err)
	_, err = e.Cursors("one", "two")
	require.NoError(t, err)
	for i := range 4 {
		require.NoError(t, e.PutAll(list(event(fmt.Sprintf("a/%d", i), zero)), false))
	}
	cursors, err := e.Cursors("one", "two")
	require.NoError(t, err)
	require.NoError(t, cursors[0].Advance(readAll(t, cursors[0])[1].Place))
	for _, table := range []string{"vms_changes", "vms_cursors"} {
		_, err = db.pool.Exec(t.Context(), `update `+table+` set place = place + (1::bigint << 50)`)
		require.NoError(t, err)
	}
	cursors, err = e.Cursors("one", "two")
	require.NoError(t, err)
	require.NoError(t, e.PutAll(list(event("a/4", zero)), false))
	for i, want := range [][]string{{"a/2", "a/3", "a/4"}, {"a/0", "a/1", "a/2", "a/3", "a/4"}} {
		var got []string
		for _, q := range readAll(t, cursors[i]) {
			got = append(got, q.Event.ActorID)
		}
		require.Equal(t, want, got)
	}
}
