package postgres

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"vmsbridge/storage/journal"
	"vmsbridge/storage/postgres/postgrestest"
	"vmsbridge/uplink/vms"
)

// unsorted is a database in which 2,000 events of 20 cameras came in by time, in a week that is
// over.
func unsorted(t *testing.T) (e *Events, address string, over int64, model map[string]vms.Event) {
	t.Helper()
	address = postgrestest.Shared(t).Database(t)
	e, over, model = eventsAt(t, address), weekOf(zero)-2, map[string]vms.Event{}
	from := time.UnixMilli(over * week.Milliseconds())
	var batch []vms.Event
	for i := range 2000 {
		ev := event(fmt.Sprintf("a/cam%02d", i%20), from.Add(time.Duration(i)*time.Minute))
		model[ev.ID] = ev
		if batch = append(batch, ev); len(batch) == 20 { // which is stored by camera
			require.NoError(t, e.PutAll(batch, false))
			batch = nil
		}
	}
	return e, address, over, model
}

// eventsAt are those of a database, at the time zero.
func eventsAt(t *testing.T, address string) *Events {
	t.Helper()
	db, err := Open(t.Context(), address, Options{Now: func() time.Time { return zero }})
	require.NoError(t, err)
	t.Cleanup(db.Close)
	e, err := db.Events()
	require.NoError(t, err)
	return e
}

// blocks is how many the first page of n events of a camera reads, of those of a time.
func blocks(t testing.TB, e *Events, camera string, from time.Time, long time.Duration, n int) int {
	t.Helper()
	sql, args := conditionsOf(vms.Query{Actors: []vms.Actor{{Type: "camera", ID: camera}}, StartGTE: vms.Ptr(from),
		StartLTE: vms.Ptr(from.Add(long))}).keysQuery(false, nil, n+1)
	rows, err := e.db.pool.Query(t.Context(), "explain (analyze, buffers, timing off) "+sql, args...)
	require.NoError(t, err)
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	sum := 0
	for _, m := range regexp.MustCompile(`(?:hit|read)=(\d+)`).FindAllStringSubmatch(lines[1], -1) {
		k, err := strconv.Atoi(m[1])
		require.NoError(t, err)
		sum += k
	}
	require.Positive(t, sum, strings.Join(lines, "\n"))
	return sum
}

// ofWeek are the blocks of a page of 50 events of a camera in a week.
func ofWeek(t *testing.T, e *Events, n int64) int {
	t.Helper()
	return blocks(t, e, "a/cam07", time.UnixMilli(n*week.Milliseconds()), week, 50)
}

// asStored requires what is stored to be that of the model, and nothing of a copy to be left.
func asStored(t *testing.T, e *Events, model map[string]vms.Event) {
	t.Helper()
	all, next, err := e.Walk("", 10_000)
	require.NoError(t, err)
	require.Empty(t, next)
	require.Len(t, all, len(model))
	for _, ev := range all {
		require.Equal(t, model[ev.ID].EndTimestamp, ev.EndTimestamp, ev.ID)
	}
	exact(t, e, "in order")
	var left int
	require.NoError(t, e.db.pool.QueryRow(t.Context(), `select (select count(*) from vms_late)
		+ (select count(*) from vms_sorted where not copied) + (select count(*) from pg_trigger where tgname = 'vms_note_late')
		+ (select count(*) from pg_class where relname = $1)`, sortTable).Scan(&left))
	require.Zero(t, left)
}

// A week that is over is put in the order of cameras, while events of it come in late, end, and are
// forgotten. None is lost or comes back, and a page of a camera reads few blocks.
func TestWeeksArePutInOrder(t *testing.T) {
	e, _, over, model := unsorted(t)
	before := ofWeek(t, e, over)
	require.Greater(t, before, 50)
	from := time.UnixMilli(over * week.Milliseconds())
	var late sync.WaitGroup
	begun, done := make(chan struct{}), make(chan struct{})
	late.Go(func() {
		defer close(done)
		for i := range 60 {
			fresh := event(fmt.Sprintf("a/cam%02d", i%20), from.Add(time.Duration(i)*time.Hour+time.Second))
			ends := event(fmt.Sprintf("a/cam%02d", i%20), from.Add(time.Duration(i)*time.Minute))
			ends.EndTimestamp = vms.Ptr(ends.StartTimestamp.Add(time.Hour))
			if err := e.PutAll(list(fresh, ends), false); err != nil {
				t.Error(err)
			}
			model[fresh.ID], model[ends.ID] = fresh, ends
			if i == 3 {
				close(begun)
			}
			if i == 30 {
				_, err := e.Forget(func(a vms.Actor) bool { return a.ID == "a/cam03" })
				if err != nil {
					t.Error(err)
				}
				for id, ev := range model {
					if ev.ActorID == "a/cam03" {
						delete(model, id)
					}
				}
			}
		}
	})
	defer late.Wait()
	<-begun
	require.NoError(t, e.sortWeeks(37))
	<-done
	asStored(t, e, model)
	require.LessOrEqual(t, ofWeek(t, e, over), 25, "%d before", before)
	require.NoError(t, e.sortWeeks(37))
	fresh := event("a/cam01", from.Add(time.Second))
	require.NoError(t, e.PutAll(list(fresh), false), "late for a week that is in order")
	model[fresh.ID] = fresh
	asStored(t, e, model)
}

// A copy that was broken off goes on where it was, by another process; what changed meanwhile is in
// it.
func TestPuttingInOrderGoesOn(t *testing.T) {
	e, address, over, model := unsorted(t)
	n, begun, err := e.nextToSort()
	require.NoError(t, err)
	require.False(t, begun)
	for n != over { // others have no events
		require.NoError(t, e.copyWeek(n, false, 100))
		require.NoError(t, e.sorting(takePlace(n)))
		n, _, err = e.nextToSort()
		require.NoError(t, err)
	}
	require.NoError(t, e.sorting(func(ctx context.Context, conn *pgx.Conn) error {
		if err := beginCopy(n)(ctx, conn); err != nil {
			return err
		}
		_, err := conn.Exec(ctx, `insert into `+sortTable+` select * from `+partName(n)+` order by actor, start_ms, name limit 700`)
		return err
	}))
	ev := model[event("a/cam00", time.UnixMilli(over*week.Milliseconds())).ID]
	ev.EndTimestamp = vms.Ptr(ev.StartTimestamp.Add(time.Hour))
	require.NoError(t, e.PutAll(list(ev), false), "by whichever process leads")
	model[ev.ID] = ev
	e.db.Close()
	e = eventsAt(t, address)

	// Lists under way are waited for, but not for long.
	conn, err := pgx.Connect(t.Context(), address)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(t.Context())) }()
	_, err = conn.Exec(t.Context(), "begin; select from vms_events limit 1")
	require.NoError(t, err)
	require.NoError(t, e.sortWeeks(100))
	_, begun, err = e.nextToSort()
	require.NoError(t, err)
	require.True(t, begun, "it waits for its turn")
	require.NoError(t, e.db.Failing())
	_, err = conn.Exec(t.Context(), "commit")
	require.NoError(t, err)
	last := model[event("a/cam01", time.UnixMilli(over*week.Milliseconds()).Add(time.Minute)).ID]
	last.EndTimestamp = vms.Ptr(last.StartTimestamp.Add(time.Hour))
	require.NoError(t, e.PutAll(list(last), false))
	model[last.ID] = last
	require.NoError(t, e.sorting(takePlace(over)))
	asStored(t, e, model)
	require.LessOrEqual(t, ofWeek(t, e, over), 15)
}

// A copy of a week that was dropped goes, and one that PostgreSQL refuses, which is said; events
// are taken as before, and it is tried again a day later.
func TestACopyThatIsOfNoUse(t *testing.T) {
	e, address, over, model := unsorted(t)
	begin := func() {
		require.NoError(t, e.sorting(beginCopy(over)))
	}
	begin()
	postgrestest.Shared(t).Exec(t, postgrestest.Name(address), `alter table vms_events add column of_the_next_release text`)
	require.ErrorContains(t, e.sortWeeks(100), "put the events of "+partName(over)+" in order")
	require.NoError(t, e.db.Failing(), "it is no sign that events are not taken")
	asStored(t, e, model)
	require.NoError(t, e.sortWeeks(100))
	require.Greater(t, ofWeek(t, e, over), 50, "not yet")
	e.sortAgain = time.Time{}
	require.NoError(t, e.sortWeeks(100))
	require.LessOrEqual(t, ofWeek(t, e, over), 15)
	asStored(t, e, model)

	e, _, over, _ = unsorted(t)
	begin()
	_, err := e.Prune(journal.Retention{Before: zero})
	require.NoError(t, err)
	asStored(t, e, map[string]vms.Event{})
}
