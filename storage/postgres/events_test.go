package postgres

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"vmsbridge/storage/journal"
	"vmsbridge/storage/journal/sample"
	"vmsbridge/storage/postgres/postgrestest"
	"vmsbridge/uplink/vms"
)

// book is what both keepers of events do for the service.
type book interface {
	PutAll(events []vms.Event, report bool) error
	Get(id string) (vms.Event, error)
	List(vms.Query, *vms.Cursor) (vms.Page, error)
	OngoingOf(...vms.Actor) ([]vms.Event, error)
	Unfinished() ([]journal.Ongoing, error)
	Empty() (bool, error)
	Meta(key string) ([]byte, error)
	SetMeta(key string, value []byte) error
	Forget(func(vms.Actor) bool) (int, error)
	Prune(journal.Retention) (int, error)
}

// books runs a test over each keeper of events.
func books(t *testing.T, test func(*testing.T, book)) {
	t.Run("journal", func(t *testing.T) {
		j, err := journal.Open(filepath.Join(t.TempDir(), "events.db"), journal.Options{})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, j.Close()) })
		test(t, j)
	})
	t.Run("postgres", func(t *testing.T) {
		db, _ := open(t)
		e, err := db.Events()
		require.NoError(t, err)
		test(t, e)
	})
}

var (
	// Ids that are the beginning of one another, with what stands behind an id in between.
	someActors = []string{"a/cam1", "a/cam", "a/cam-1", "a/cam1-2026", "b/cam1"}
	someTypes  = []string{vms.TypeMotion, vms.TypeTamper, "x"}
	zero       = time.Now().UTC().Truncate(time.Hour)
)

func someTime(t *rapid.T, label string) vms.Time {
	at := zero.Add(time.Duration(rapid.Int64Range(-4, 12).Draw(t, label)) * 250 * time.Millisecond)
	at = at.AddDate(0, 0, -rapid.SampledFrom([]int{0, 0, 1, 2, 3, 9}).Draw(t, label+" days"))
	if rapid.IntRange(0, 9).Draw(t, label+" far") == 0 { // before 1970, another week, a partition that is not there
		at = at.AddDate(rapid.SampledFrom([]int{0, -1, -70, 30}).Draw(t, label+" years"), 0, -8)
	}
	return vms.At(at)
}

func someEvent(t *rapid.T) vms.Event {
	actor := rapid.SampledFrom(someActors).Draw(t, "actor")
	ev := vms.Event{ActorID: actor, ActorType: "camera", ActorAccountID: "a", AccountID: "a",
		CreatorID: vms.CreatorMotion, Span: true,
		Type: rapid.SampledFrom(someTypes).Draw(t, "type"), StartTimestamp: someTime(t, "start")}
	if rapid.Bool().Draw(t, "ended") {
		length := time.Duration(rapid.IntRange(0, 8).Draw(t, "length")) * 250 * time.Millisecond
		length += time.Duration(rapid.SampledFrom([]int{0, 0, 0, 25}).Draw(t, "hours")) * time.Hour
		ev.EndTimestamp = vms.Ptr(ev.StartTimestamp.Add(length))
	}
	ev.SetData(vms.CreatorDetails(vms.CreatorMotion, vms.CreatorInfo{ID: rapid.StringN(0, 3, 9).Draw(t, "data")}))
	if ev.ID = ev.NaturalID(); rapid.IntRange(0, 3).Draw(t, "suffixed") == 0 {
		ev.ID = ev.SuffixedID(rapid.SampledFrom([]string{"1", "2"}).Draw(t, "suffix"))
	}
	return ev
}

func someQuery(t *rapid.T) vms.Query {
	var q vms.Query
	if rapid.IntRange(0, 3).Draw(t, "by actor") > 0 {
		for _, a := range rapid.SliceOfN(rapid.SampledFrom(append(someActors, "c\x00")), 1, 4).Draw(t, "actors") {
			q.Actors = append(q.Actors, vms.Actor{Type: "camera", ID: a})
		}
	}
	if rapid.IntRange(0, 2).Draw(t, "by type") == 0 {
		q.Types = rapid.SliceOfN(rapid.SampledFrom(append(someTypes, "y\x00")), 1, 2).Draw(t, "types")
	}
	for label, bound := range map[string]**vms.Time{"start gte": &q.StartGTE, "start lte": &q.StartLTE,
		"end gte": &q.EndGTE, "end lte": &q.EndLTE} {
		if rapid.IntRange(0, 3).Draw(t, "has "+label) == 0 {
			v := someTime(t, label)
			*bound = &v
		}
	}
	q.Open = rapid.Bool().Draw(t, "open")
	q.Ascending = rapid.Bool().Draw(t, "ascending")
	q.PageSize = rapid.IntRange(1, 4).Draw(t, "page size")
	return q
}

func idsOf(list []vms.Event) (ids []string) {
	for _, ev := range list {
		ids = append(ids, ev.ID)
	}
	return ids
}

// same compares events as clients get them.
func same(t require.TestingT, want, got []vms.Event) {
	require.Equal(t, idsOf(want), idsOf(got))
	a, err := json.Marshal(want)
	require.NoError(t, err)
	b, err := json.Marshal(got)
	require.NoError(t, err)
	require.JSONEq(t, string(a), string(b))
}

// Whole lives of both keepers beside a map.
func TestEventsAgainstModel(t *testing.T) {
	sample.Lives(t, 15)
	books(t, func(t *testing.T, b book) {
		rapid.Check(t, func(t *rapid.T) {
			_, err := b.Forget(func(vms.Actor) bool { return true })
			require.NoError(t, err)
			m := map[string]vms.Event{}
			for range rapid.IntRange(1, 4).Draw(t, "batches") {
				batch := rapid.SliceOfN(rapid.Custom(someEvent), 1, 20).Draw(t, "batch")
				require.NoError(t, b.PutAll(batch, false))
				for _, ev := range batch {
					m[ev.ID] = ev
				}
				for range 4 {
					pages(t, b, m, someQuery(t))
				}
			}
			var open []vms.Event
			for _, id := range slices.Sorted(maps.Keys(m)) {
				ev, err := b.Get(id)
				require.NoError(t, err)
				same(t, []vms.Event{m[id]}, []vms.Event{ev})
				if ev.Ongoing() {
					open = append(open, m[id])
				}
			}
			unfinished, err := b.Unfinished()
			require.NoError(t, err)
			var got []vms.Event
			for _, o := range unfinished {
				got = append(got, o.Event)
				require.True(t, o.Last.Equal(o.Event.StartTimestamp.Time))
			}
			same(t, open, got)
			of := vms.Actor{Type: "camera", ID: rapid.SampledFrom(someActors).Draw(t, "ongoing of")}
			got, err = b.OngoingOf(of, vms.Actor{Type: "bridge", ID: of.ID}, of)
			require.NoError(t, err)
			for _, ev := range open {
				require.Equal(t, ev.ActorID == of.ID, slices.Contains(idsOf(got), ev.ID))
			}
			gone := rapid.SampledFrom(someActors).Draw(t, "gone")
			n, err := b.Forget(func(a vms.Actor) bool { return a.ID == gone })
			require.NoError(t, err)
			before := len(m)
			maps.DeleteFunc(m, func(_ string, ev vms.Event) bool { return ev.ActorID == gone })
			require.Equal(t, before-len(m), n)
			pages(t, b, m, vms.Query{PageSize: 100})
		})
	})
}

// pages goes through a query to its end and back.
func pages(t require.TestingT, b book, m map[string]vms.Event, q vms.Query) {
	want := sample.Matching(m, q)
	var all [][]vms.Event
	var got []vms.Event
	var c *vms.Cursor
	for {
		page, err := b.List(q, c)
		require.NoError(t, err)
		require.Equal(t, len(want), page.Total)
		require.LessOrEqual(t, len(page.Events), q.PageSize)
		require.Equal(t, c != nil, page.Prev != nil, "the first page has no previous one, all others do")
		all, got = append(all, page.Events), append(got, page.Events...)
		if page.Next == nil {
			c = page.Prev
			break
		}
		require.Len(t, page.Events, q.PageSize)
		c = page.Next
	}
	same(t, want, append([]vms.Event{}, got...))
	for i := len(all) - 2; i >= 0; i-- {
		counted := 7
		q.Counted = &counted
		page, err := b.List(q, c)
		require.NoError(t, err)
		require.Equal(t, 7, page.Total)
		same(t, all[i], page.Events)
		require.NotNil(t, page.Next)
		require.Equal(t, i > 0, page.Prev != nil)
		c = page.Prev
	}
}

// What an owner reported gives way to no other, and a batch with such an event changes nothing.
func TestEventsOfOwners(t *testing.T) {
	books(t, func(t *testing.T, b book) {
		empty, err := b.Empty()
		require.NoError(t, err)
		require.True(t, empty)
		ev := event("a/cam", zero)
		ev.Owner = "bridge:1"
		require.NoError(t, b.PutAll([]vms.Event{ev}, false))
		other := event("a/cam2", zero)
		ev.Owner = "bridge:2"
		require.ErrorIs(t, b.PutAll([]vms.Event{other, ev}, false), vms.ErrOwned)
		empty, err = b.Empty()
		require.NoError(t, err)
		require.False(t, empty)
		_, err = b.Get(other.ID)
		require.ErrorIs(t, err, journal.ErrNotFound, "all or none")
		kept, err := b.Get(ev.ID)
		require.NoError(t, err)
		require.Equal(t, "bridge:1", kept.Owner)
		ev.Owner = ""
		require.NoError(t, b.PutAll([]vms.Event{ev}, false), "whoever has no owner takes any place")
		ev.Owner = "bridge:2"
		require.NoError(t, b.PutAll([]vms.Event{ev}, false), "and gives way to any")
	})
}

func event(actor string, start time.Time) vms.Event {
	ev := vms.Event{ActorID: actor, ActorType: "camera", ActorAccountID: "a", AccountID: "a",
		Type: vms.TypeMotion, CreatorID: vms.CreatorMotion,
		Span: true, StartTimestamp: vms.At(start), EndTimestamp: vms.Ptr(start.Add(time.Second))}
	ev.ID = ev.NaturalID()
	return ev
}

// What can never be stored says so, and is not taken for trouble of the store.
func TestEventsThatAreRefused(t *testing.T) {
	books(t, func(t *testing.T, b book) {
		for name, change := range map[string]func(*vms.Event){
			"no type":   func(ev *vms.Event) { ev.Type = "" },
			"no start":  func(ev *vms.Event) { ev.StartTimestamp = vms.Time{} },
			"end first": func(ev *vms.Event) { ev.EndTimestamp = vms.Ptr(zero.Add(-time.Hour)) },
		} {
			ev := event("a/cam", zero)
			change(&ev)
			require.ErrorIs(t, b.PutAll([]vms.Event{event("a/ok", zero), ev}, false), journal.ErrInvalid, name)
		}
		_, err := b.Get(event("a/ok", zero).ID)
		require.ErrorIs(t, err, journal.ErrNotFound)
		for _, id := range []string{"", "no time in it", "a\x00-2026-11-21T07:10:00.000+00:00-x"} {
			_, err := b.Get(id)
			require.ErrorIs(t, err, journal.ErrNotFound, "%q", id)
		}
	})
	db, _ := open(t)
	e, err := db.Events()
	require.NoError(t, err)
	for name, change := range map[string]func(*vms.Event){
		"another id":   func(ev *vms.Event) { ev.ID = "of my own" },
		"a zero byte":  func(ev *vms.Event) { ev.ActorID = "a\x00"; ev.ID = ev.NaturalID() },
		"another time": func(ev *vms.Event) { ev.StartTimestamp = vms.At(zero.Add(time.Minute)) },
	} {
		ev := event("a/cam", zero)
		change(&ev)
		require.ErrorIs(t, e.PutAll([]vms.Event{ev}, false), journal.ErrInvalid, name)
	}
	require.NoError(t, e.Failing())
	_, err = e.Prune(journal.Retention{Keep: 1})
	require.ErrorContains(t, err, "by their age only")
}

// Small values of the owner.
func TestEventsMeta(t *testing.T) {
	books(t, func(t *testing.T, b book) {
		v, err := b.Meta("mark/a/b")
		require.NoError(t, err)
		require.Nil(t, v)
		require.NoError(t, b.SetMeta("mark/a/b", []byte("7")))
		v, err = b.Meta("mark/a/b")
		require.NoError(t, err)
		require.Equal(t, "7", string(v))
		require.NoError(t, b.SetMeta("mark/a/b", nil))
		v, err = b.Meta("mark/a/b")
		require.NoError(t, err)
		require.Nil(t, v)
		require.Error(t, b.SetMeta("", []byte("7")))
		require.Error(t, b.SetMeta("k", make([]byte, 64<<10+1)))
	})
}

// Batches that have the same events in any order neither wait for one another for ever nor fail.
func TestEventsAtOnce(t *testing.T) {
	books(t, func(t *testing.T, b book) {
		var list []vms.Event
		for i := range 200 {
			list = append(list, event(fmt.Sprintf("a/cam%d", i%7), zero.Add(time.Duration(i)*time.Second)))
		}
		var all sync.WaitGroup
		for n := range 6 {
			mine := slices.Clone(list)
			if n%2 == 0 {
				slices.Reverse(mine)
			}
			all.Go(func() {
				for range 5 {
					if err := b.PutAll(mine, false); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		page, err := b.List(vms.Query{PageSize: 1}, nil)
		require.NoError(t, err)
		require.Equal(t, len(list), page.Total)
	})
}

// What ended before the limit goes, whole weeks at a time, and nothing else does.
func TestEventsArePruned(t *testing.T) {
	now := zero
	db, address := open(t)
	db.Close()
	db, err := Open(t.Context(), address, Options{Now: func() time.Time { return now }})
	require.NoError(t, err)
	t.Cleanup(db.Close)
	e, err := db.Events()
	require.NoError(t, err)
	var list []vms.Event
	for day := -400; day <= 30; day++ {
		list = append(list, event("a/cam", now.AddDate(0, 0, day)))
	}
	goesOn := event("a/cam", now.AddDate(0, 0, -41).Add(time.Minute))
	goesOn.EndTimestamp = nil
	long := event("a/cam", now.AddDate(0, 0, -41).Add(time.Hour))
	long.EndTimestamp = vms.Ptr(now)
	list = append(list, goesOn, long)
	require.NoError(t, e.PutAll(list, false))
	// A week apart each, so that a whole one goes each time, whatever day it is.
	for _, days := range []int{-35, -28, -21} {
		before := now.AddDate(0, 0, days)
		n, err := e.Prune(journal.Retention{Before: before})
		require.NoError(t, err)
		require.Positive(t, n)
		for _, ev := range list {
			_, err := e.Get(ev.ID)
			switch end := ev.EndTimestamp; {
			case end == nil || !end.Before(before):
				require.NoError(t, err, "%s must stay for %d days", ev.ID, days)
			case weekOf(ev.StartTimestamp.Time) < weekOf(before):
				require.ErrorIs(t, err, journal.ErrNotFound, "%s must go for %d days", ev.ID, days)
			}
		}
		require.Equal(t, []string{goesOn.ID}, idsOf(ongoing(t, e)))
	}
	// Time passes; what came before its partition moves into it, once.
	now = now.AddDate(0, 0, 28)
	_, err = e.Prune(journal.Retention{})
	require.NoError(t, err)
	there, err := e.List(vms.Query{StartGTE: vms.Ptr(zero), PageSize: 100}, nil)
	require.NoError(t, err)
	require.Equal(t, 31, there.Total)
	var other int
	require.NoError(t, db.pool.QueryRow(t.Context(), `select count(*) from vms_events_other where start_ms > $1`,
		zero.UnixMilli()).Scan(&other))
	require.Zero(t, other)
}

func ongoing(t *testing.T, e *Events) []vms.Event {
	list, err := e.OngoingOf(vms.Actor{Type: "camera", ID: "a/cam"})
	require.NoError(t, err)
	return list
}

func list(events ...vms.Event) []vms.Event { return events }

// Events of many cameras that began in one millisecond are in the order of their ids, whatever page
// they are on.
func TestEventsThatBeganTogether(t *testing.T) {
	books(t, func(t *testing.T, b book) {
		var all []vms.Event
		var actors []vms.Actor
		for i := range 12 {
			ev := event(fmt.Sprintf("a/cam%02d", 11-i), zero.Add(time.Duration(i/6)*time.Millisecond))
			all, actors = append(all, ev), append(actors, vms.Actor{Type: "camera", ID: ev.ActorID})
		}
		require.NoError(t, b.PutAll(all, false))
		m := map[string]vms.Event{}
		for _, ev := range all {
			m[ev.ID] = ev
		}
		for _, ascending := range []bool{true, false} {
			for _, of := range [][]vms.Actor{actors, nil} {
				for size := 1; size <= 7; size++ {
					pages(t, b, m, vms.Query{Actors: of, Ascending: ascending, PageSize: size})
				}
			}
		}
	})
}

// A list reads its own cameras' stretch of the key and not the others', and compiles nothing,
// whatever PostgreSQL believes to be cheap, as it may while it has no statistics.
func TestListsReadTheirOwn(t *testing.T) {
	db := openAt(t, postgrestest.Shared(t).Database(t)+"&jit_above_cost=0&random_page_cost=1000")
	e, err := db.Events()
	require.NoError(t, err)
	for from := 0; from < 20_000; from += 2000 {
		var batch []vms.Event
		for i := range 2000 {
			n := from + i
			batch = append(batch, event(fmt.Sprintf("a/cam%03d", n%400), zero.Add(-time.Duration(n/400)*time.Second)))
		}
		require.NoError(t, e.PutAll(batch, false))
	}
	asked := vms.Query{Actors: []vms.Actor{{Type: "camera", ID: "a/cam007"}}}
	c := conditionsOf(asked)
	keys, args := c.keysQuery(false, nil, 11)
	direct, its := c.countQuery(asked, 0, 0)
	counts, theirs := c.countQuery(asked, weekOf(zero)-2, weekOf(zero)+1)
	for name, q := range map[string]struct {
		sql  string
		args []any
	}{"count": {direct, its}, "counts": {counts, theirs}, "keys": {keys, args}} {
		conn, err := db.pool.Acquire(t.Context())
		require.NoError(t, err)
		rows, err := conn.Query(t.Context(), "explain (analyze, buffers, timing off) "+q.sql, q.args...)
		require.NoError(t, err)
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		conn.Release()
		plan := strings.Join(lines, "\n")
		require.NotContains(t, plan, "JIT", name)
		hit := regexp.MustCompile(`shared hit=(\d+)`).FindStringSubmatch(plan)
		require.NotNil(t, hit, plan)
		blocks, err := strconv.Atoi(hit[1])
		require.NoError(t, err)
		require.Less(t, blocks, 200, "%s: of some thousand blocks that there are\n%s", name, plan)
	}
}
