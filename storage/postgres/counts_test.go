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
		// Bounds between days: nothing of a day is looked at.
		{StartGTE: vms.Ptr(zero.Truncate(day).AddDate(0, 0, -16)),
			StartLTE: vms.Ptr(zero.Truncate(day).Add(-time.Millisecond))},
		{StartLTE: vms.Ptr(zero.Truncate(day).Add(-time.Millisecond))},
		{StartGTE: vms.Ptr(zero.Truncate(day).AddDate(0, 0, -16))},
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

// Counts of days are those of the events whatever happens to these: many stored at a time, an end,
// a week that comes, one that is dropped, and another type of actor.
func TestCountsOfDays(t *testing.T) {
	db, _ := open(t)
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
	asIs := func(*vms.Event) {}
	goesOn := func(ev *vms.Event) { ev.EndTimestamp = nil }

	var all sync.WaitGroup
	for n := range 20 {
		all.Go(func() {
			store(n, 0, goesOn)
			store(n, n, asIs)
		})
	}
	all.Wait()
	const wholeWeeks = weeksBefore + weeksAhead + 1
	require.EqualValues(t, wholeWeeks, exact(t, e, "counted"))

	store(2, 100, asIs)
	require.EqualValues(t, wholeWeeks, exact(t, e, "ended"))
	_, err = e.Forget(func(a vms.Actor) bool { return a.ID == "a/cam3" })
	require.NoError(t, err)
	require.EqualValues(t, wholeWeeks, exact(t, e, "forgotten"))
	var left int
	require.NoError(t, db.pool.QueryRow(t.Context(), `select count(*) from vms_counts where actor = 'a/cam3'`).Scan(&left))
	require.Zero(t, left)

	store(-24*30, 0, asIs) // a clock was wrong
	db.opts.Now = func() time.Time { return zero.AddDate(0, 0, 21) }
	require.NoError(t, e.makePartitions())
	require.EqualValues(t, wholeWeeks+3, exact(t, e, "moved into their partitions"))
	store(24*40, 0, asIs)
	_, err = e.Prune(journal.Retention{Before: zero.AddDate(0, 0, -15)})
	require.NoError(t, err)
	require.Less(t, exact(t, e, "dropped"), int64(wholeWeeks+3))
	require.NoError(t, db.pool.QueryRow(t.Context(), `select count(*) from vms_counts where week < $1`,
		weekOf(zero.AddDate(0, 0, -15))).Scan(&left))
	require.Zero(t, left)
	store(24*15, 0, asIs)
	before := exact(t, e, "late for a week that was dropped")
	require.Positive(t, before)
	store(1, 30, func(ev *vms.Event) { ev.ActorType = "bridge" })
	require.Less(t, exact(t, e, "another type of actor"), before)
}
