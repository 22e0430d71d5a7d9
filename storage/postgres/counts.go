package postgres

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"vmsbridge/uplink/vms"
)

// Lists say how many events match, among ten million too. So vms_counts has the number of each day,
// by actor and type, which triggers keep in the event's transaction, whichever release writes it.
// They are believed for weeks of which vms_counted says so: all that there are partitions of, but
// those in which an event got an actor of another type.

const day = 24 * time.Hour

// believed are the weeks from first to before end whose counts are whole: the newest ones, up to
// one that is not.
func believed(ctx context.Context, conn *pgx.Conn) (first, end int64, err error) {
	rows, err := conn.Query(ctx, `select week from vms_counted where actor is null order by week desc`)
	if err != nil {
		return 0, 0, err
	}
	weeks, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	for _, n := range weeks {
		if end == 0 {
			first, end = n+1, n+1
		}
		if n != first-1 {
			break
		}
		first = n
	}
	return first, end, err
}

// countQuery is the query for how many events match. It adds up whole days of the weeks that
// believed named, and looks only at the others' events, and at those of actors and weeks in which
// an event ended after the latest end that is asked for.
func (c conditions) countQuery(q vms.Query, first, end int64) (string, []any) {
	w := c
	w.args = append([]any{}, c.args...)
	from, to := int64(math.MinInt64), int64(math.MaxInt64)
	if q.StartGTE != nil {
		from = q.StartGTE.UnixMilli()
	}
	for _, most := range []*vms.Time{q.StartLTE, q.EndLTE} {
		if most != nil {
			to = min(to, most.UnixMilli()+1)
		}
	}
	perDay, perWeek := day.Milliseconds(), week.Milliseconds()
	since, until := max(from, first*perWeek), min(to, end*perWeek)
	since, until = (since+perDay-1)/perDay, until/perDay // whole days, none of them before 1970
	// No event ends before its start: then the earliest end leaves out those without one only.
	if since >= until || q.EndGTE != nil && (q.StartGTE == nil || q.EndGTE.After(q.StartGTE.Time)) {
		return w.direct(""), w.args
	}
	sinceDay, untilDay := w.arg(since)+"::bigint", w.arg(until)+"::bigint"
	sinceMS, untilMS := w.arg(since*perDay)+"::bigint", w.arg(until*perDay)+"::bigint"

	var all, some []string
	for i := range 7 {
		all = append(all, fmt.Sprintf("k.d%d", i))
		some = append(some, fmt.Sprintf(`case when k.week * 7 + %d >= %s and k.week * 7 + %d < %s
			then k.d%d else 0 end`, i, sinceDay, i, untilDay, i))
	}
	days := fmt.Sprintf("when k.week * 7 >= %s and k.week * 7 + 7 <= %s then %s else %s", sinceDay, untilDay,
		strings.Join(all, " + "), strings.Join(some, " + "))
	if q.EndLTE != nil {
		most := w.arg(q.EndLTE.UnixMilli())
		days = fmt.Sprintf(`when k.latest > %s then (select count(*) from vms_events e where e.actor = k.actor
			and e.start_ms >= greatest(%s, k.week * %d) and e.start_ms < least(%s, (k.week + 1) * %d)
			and e.type = k.type and e.actor_type = k.actor_type and (e.end_ms <= %s or e.end_ms is null)) %s`,
			most, sinceMS, perWeek, untilMS, perWeek, most, days)
	}
	sql := fmt.Sprintf(`select (select coalesce(sum(case %s end), 0) from %s where k.week >= %s / 7 and k.week <= (%s - 1) / 7%s)`,
		days, w.of("vms_counts k"), sinceDay, untilDay, strings.ReplaceAll(w.whose, "e.", "k."))
	// Also where the bounds are those of days: PostgreSQL refuses a parameter that stands nowhere.
	sql += " + (" + w.direct(" and e.start_ms < "+sinceMS) + ") + (" + w.direct(" and e.start_ms >= "+untilMS) + ")"
	if (q.EndGTE != nil || q.EndLTE != nil) && !q.Open {
		sql += fmt.Sprintf(` - (select count(*) from %s where e.end_ms is null and e.start_ms >= %s
			and e.start_ms < %s%s)`, w.of("vms_events e"), sinceMS, untilMS, w.whose)
	}
	return "select (" + strings.TrimPrefix(sql, "select ") + ")::bigint", w.args
}

// direct is the query that looks at each event.
func (c conditions) direct(and string) string {
	return "select count(*) from " + c.of("vms_events e") + " where true" + c.whose + c.sql + and
}

// forgetWeeks removes the counts of weeks that have no partition any more.
func forgetWeeks(ctx context.Context, conn *pgx.Conn, there []int64) error {
	tag, err := conn.Exec(ctx, `delete from vms_counted where week <> all($1)`, there)
	if err == nil && tag.RowsAffected() > 0 && len(there) > 0 {
		_, err = conn.Exec(ctx, `delete from vms_counts where week < $1`, there[0])
	}
	return err
}
