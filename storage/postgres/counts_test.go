package postgres

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"vmsbridge/storage/journal"
	"vmsbridge/storage/postgres/postgrestest"
	"vmsbridge/uplink/vms"
)

// exact is an error where a list's count is not the number of its events, and how many weeks are
// counted by days.
func exact(t *testing.T, e *Events, when string) (weeks int64) {
	t.Helper()
	for _, q := range []vms.Query{
		{},
		{Actors: []vms.Actor{{Type: "camera", ID: "a/cam1"}, {Type: "camera", ID: "a/cam3"},
			{Type: "camera", ID: "a/none"}}},
		{Types: []string{vms.TypeTamper}, StartGTE: vms.Ptr(zero.AddDate(0, 0, -20))},
		{StartGTE: vms.Ptr(zero.AddDate(0, 0, -16)), StartLTE: vms.Ptr(zero.AddDate(0, 0, -1))},
		{EndLTE: vms.Ptr(zero.AddDate(0, 0, -5).Add(time.Minute))},
		{EndLTE: vms.Ptr(zero.Add(time.Hour)), Open: true},
		{StartGTE: vms.Ptr(zero.AddDate(0, 0, -30)), EndGTE: vms.Ptr(zero.AddDate(0, 0, -30))},
		{EndGTE: vms.Ptr(zero.AddDate(0, 0, -9)), Open: true},
	} {
		q.PageSize = 1
		page, err := e.List(q, nil)
		require.NoError(t, err)
		var want int
		err = e.read(func(ctx context.Context, conn *pgx.Conn) error {
			first, end, err := believed(ctx, conn)
			if err != nil {
				return err
			}
			weeks = end - first
			c := conditionsOf(q)
			return conn.QueryRow(ctx, c.direct(""), c.args...).Scan(&want)
		})
		require.NoError(t, err)
		require.Equal(t, want, page.Total, "%s: %+v", when, q)
	}
	return weeks
}

// Counts of days are those of the events whatever happens to these: those of before there were
// counts, others that are stored while these are counted, an end, another type of actor, and what
// the release before forgets and drops.
func TestCountsOfDays(t *testing.T) {
	db, address := open(t)
	e, err := db.Events()
	require.NoError(t, err)
	store := func(hours, length int, change func(*vms.Event)) {
		var batch []vms.Event
		for i := range 40 {
			ev := event(fmt.Sprintf("a/cam%d", i%5), zero.Add(-time.Duration(hours+i*12)*time.Hour))
			if i%3 == 0 {
				ev.Type = vms.TypeTamper
				ev.ID = ev.NaturalID()
			}
			ev.EndTimestamp = vms.Ptr(ev.StartTimestamp.Add(time.Duration(length) * time.Hour))
			change(&ev)
			batch = append(batch, ev)
		}
		require.NoError(t, e.PutAll(batch, false))
	}
	run := func(sql string) { postgrestest.Shared(t).Exec(t, postgrestest.Name(address), sql) }
	asIs := func(*vms.Event) {}
	goesOn := func(ev *vms.Event) { ev.EndTimestamp = nil }

	// As an upgrade finds it: events, and no counts.
	run(`alter table vms_events disable trigger vms_count_inserted`)
	store(1, 0, asIs)
	store(2, 0, goesOn)
	store(3, 30, asIs)
	run(`alter table vms_events enable trigger vms_count_inserted; truncate vms_counted`)
	require.Zero(t, exact(t, e, "not counted yet"))
	var all sync.WaitGroup
	done := make(chan struct{})
	all.Go(func() {
		for n := 4; n < 20; n++ {
			store(n, 0, goesOn)
			store(n, n, asIs)
		}
		close(done)
	})
	for open := true; open; {
		select {
		case <-done:
			open = false
		default:
			run(`update vms_counted set actor = ''`)
			require.NoError(t, e.countWeeks(7))
		}
	}
	all.Wait()
	require.NoError(t, e.countWeeks(7))
	const wholeWeeks = weeksBefore + weeksAhead + 1
	require.EqualValues(t, wholeWeeks, exact(t, e, "counted"))

	store(2, 100, asIs)
	require.EqualValues(t, wholeWeeks, exact(t, e, "ended"))
	store(3, 30, func(ev *vms.Event) { ev.ActorType = "bridge" })
	require.Less(t, exact(t, e, "another type of actor"), int64(wholeWeeks))
	require.NoError(t, e.countWeeks(7))
	require.EqualValues(t, wholeWeeks, exact(t, e, "and counted anew"))
	_, err = e.Forget(func(a vms.Actor) bool { return a.ID == "a/cam3" })
	require.NoError(t, err)
	require.EqualValues(t, wholeWeeks, exact(t, e, "forgotten"))
	var left int
	require.NoError(t, db.pool.QueryRow(t.Context(), `select count(*) from vms_counts where actor = 'a/cam3'`).Scan(&left))
	require.Zero(t, left)

	// The release before drops a week, and knows nothing of counts.
	oldest := partName(weekOf(zero) - weeksBefore)
	store(24*44, 0, asIs)
	run(`alter table vms_events detach partition ` + oldest + `; drop table ` + oldest)
	e, err = db.Events()
	require.NoError(t, err)
	require.EqualValues(t, wholeWeeks-1, exact(t, e, "dropped by the release before"))
	store(24*40, 0, asIs)
	_, err = e.Prune(journal.Retention{Before: zero.AddDate(0, 0, -15)})
	require.NoError(t, err)
	require.Less(t, exact(t, e, "dropped"), int64(wholeWeeks-1))
	require.NoError(t, db.pool.QueryRow(t.Context(), `select count(*) from vms_counts where week < $1`,
		weekOf(zero.AddDate(0, 0, -15))).Scan(&left))
	require.Zero(t, left)
	store(24*15, 0, asIs)
	require.Positive(t, exact(t, e, "late for a week that was dropped"))
}
