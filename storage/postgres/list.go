package postgres

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"vmsbridge/storage/journal"
	"vmsbridge/storage/journal/schema"
	"vmsbridge/uplink/vms"
)

// List answers a query as the journal's does: the page at c, or the first one for a nil c. It reads
// the keys of one page from each camera's own stretch of the key, then the bodies of those that are
// on the page. Total is counted (see counts.go), unless q.Counted says it.
func (e *Events) List(q vms.Query, c *vms.Cursor) (page vms.Page, err error) {
	n := q.PageSize
	if n <= 0 {
		n = defaultPageSize
	}
	n = min(n, journal.MaxPageSize)
	err = e.db.run(readOnly, func(ctx context.Context, conn *pgx.Conn) error {
		l := lister{ctx: ctx, conn: conn, where: conditionsOf(q), stop: q.Stop}
		page, err = l.page(q, c, n)
		return err
	})
	if err != nil {
		return vms.Page{}, fmt.Errorf("list events: %w", plain(err))
	}
	return page, nil
}

const defaultPageSize = 100

// lister answers one query in one transaction.
type lister struct {
	ctx   context.Context
	conn  *pgx.Conn
	where conditions
	stop  func() error
}

func (l *lister) page(q vms.Query, c *vms.Cursor, n int) (page vms.Page, err error) {
	page.Events = []vms.Event{}
	if q.Counted != nil {
		page.Total = *q.Counted
	} else if page.Total, err = l.count(q); err != nil {
		return page, err
	}
	var at *key
	if c != nil {
		at = &key{Start: c.Start.UnixMilli(), Name: c.ID}
	}
	back := c != nil && c.Back
	keys, err := l.keys(q.Ascending != back, at, n+1)
	if err != nil {
		return page, err
	}
	more := len(keys) > n
	keys = keys[:min(n, len(keys))]
	if back {
		slices.Reverse(keys)
	}
	if len(keys) == 0 {
		return page, nil
	}
	first, last := keys[0], keys[len(keys)-1]
	prev, next := back && more, !back && more
	if !back && c != nil {
		prev, err = l.any(!q.Ascending, first)
	}
	if back && err == nil {
		next, err = l.any(q.Ascending, last)
	}
	if err != nil {
		return page, err
	}
	if prev {
		page.Prev = &vms.Cursor{Start: vms.At(schema.MSTime(first.Start)), ID: first.id(), Back: true}
	}
	if next {
		page.Next = &vms.Cursor{Start: vms.At(schema.MSTime(last.Start)), ID: last.id()}
	}
	page.Events, err = l.bodies(keys)
	return page, err
}

// any reports whether there is an event after a place.
func (l *lister) any(ascending bool, after key) (bool, error) {
	keys, err := l.keys(ascending, &key{Start: after.Start, Name: after.id()}, 1)
	return len(keys) > 0, err
}

// conditions are a query's, as SQL. actors is what the events are joined with, "" for any actor's;
// whose has the conditions of actor and type, sql the others.
type conditions struct {
	actors, whose, sql string
	args               []any
}

// of is what actors and a table are read from.
func (c conditions) of(table string) string {
	if c.actors == "" {
		return table
	}
	return c.actors + ", " + table
}

func (c *conditions) arg(v any) string {
	c.args = append(c.args, v)
	return fmt.Sprintf("$%d", len(c.args))
}

func (c *conditions) and(sql string) { c.sql += " and " + sql }

// storable reports whether a name can be in the tables.
func storable(name string) bool {
	return !strings.ContainsRune(name, 0) && len(name) <= schema.MaxNameBytes
}

func conditionsOf(q vms.Query) conditions {
	var c conditions
	if len(q.Actors) > 0 {
		ids, types := namesOf(q.Actors)
		c.actors = fmt.Sprintf("unnest(%s::text[], %s::text[]) a (actor, actor_type)", c.arg(ids), c.arg(types))
		c.whose += " and e.actor = a.actor and e.actor_type = a.actor_type"
	}
	if len(q.Types) > 0 {
		types := slices.DeleteFunc(slices.Clone(q.Types), func(t string) bool { return !storable(t) })
		c.whose += " and e.type = any(" + c.arg(types) + "::text[])"
	}
	if q.StartGTE != nil {
		c.and("e.start_ms >= " + c.arg(q.StartGTE.UnixMilli()))
	}
	if q.StartLTE != nil {
		c.and("e.start_ms <= " + c.arg(q.StartLTE.UnixMilli()))
	}
	if q.EndGTE == nil && q.EndLTE == nil {
		return c
	}
	ended, live := "e.end_ms is not null", "e.end_ms is null"
	if q.EndGTE != nil {
		ended += " and e.end_ms >= " + c.arg(q.EndGTE.UnixMilli())
	}
	if q.EndLTE != nil {
		most := c.arg(q.EndLTE.UnixMilli())
		ended += " and e.end_ms <= " + most
		live += " and e.start_ms <= " + most
		c.and("e.start_ms <= " + most) // no event ends before its start
	}
	if q.Open {
		ended += " or " + live
	}
	c.and("(" + ended + ")")
	return c
}

func (l *lister) count(q vms.Query) (n int, err error) {
	if err := l.stopped(); err != nil {
		return 0, err
	}
	first, end, err := believed(l.ctx, l.conn)
	if err != nil {
		return 0, err
	}
	sql, args := l.where.countQuery(q, first, end)
	err = l.conn.QueryRow(l.ctx, sql, args...).Scan(&n)
	return n, err
}

// keys are those of up to n matching events in order, after a place (nil: from the first on), whose
// Name is an id.
func (l *lister) keys(ascending bool, after *key, n int) ([]key, error) {
	if err := l.stopped(); err != nil {
		return nil, err
	}
	sql, args := l.where.keysQuery(ascending, after, n)
	rows, err := l.conn.Query(l.ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	keys, err := pgx.CollectRows(rows, pgx.RowToStructByPos[key])
	slices.SortFunc(keys, func(a, b key) int {
		order := cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.id(), b.id()))
		if !ascending {
			order = -order
		}
		return order
	})
	return keys[:min(n, len(keys))], err
}

// keysQuery is the query for keys, which may find some more that began with the last one.
func (c conditions) keysQuery(ascending bool, after *key, n int) (string, []any) {
	w, direction, than := c, "desc", "<"
	w.args = slices.Clone(w.args)
	if ascending {
		direction, than = "", ">"
	}
	if after != nil {
		start, id := w.arg(after.Start), w.arg(strings.ReplaceAll(after.Name, "\x00", ""))
		time := w.arg("-" + schema.MSTime(after.Start).UTC().Format(stamp) + "-")
		w.and("e.start_ms " + than + "= " + start)
		w.and(fmt.Sprintf(`(e.start_ms <> %s or (e.actor || %s::text || e.name) collate "C" %s %s::text)`, start, time, than, id))
	}
	most := w.arg(n)
	// Of one actor, the order by name is that by id. Of several that began in one millisecond all
	// are read, and put in order here.
	sql := fmt.Sprintf(`select e.actor, e.start_ms, e.name from vms_events e where true%s%s
		order by e.start_ms %s, e.name %s limit %s`, w.whose, w.sql, direction, direction, most)
	if w.actors != "" {
		sql = fmt.Sprintf(`select k.* from %s, lateral (%s) k order by k.start_ms %s fetch first %s rows with ties`,
			w.actors, sql, direction, most)
	} else {
		sql = fmt.Sprintf(`select e.actor, e.start_ms, e.name from vms_events e where true%s%s
			order by e.start_ms %s fetch first %s rows with ties`, w.whose, w.sql, direction, most)
	}
	return sql, w.args
}

// bodies are the events of keys, in their order.
func (l *lister) bodies(keys []key) ([]vms.Event, error) {
	var actors, names []string
	var starts []int64
	for _, k := range keys {
		actors, starts, names = append(actors, k.Actor), append(starts, k.Start), append(names, k.Name)
	}
	return events(l.ctx, l.conn, `select e.body from unnest($1::text[], $2::bigint[], $3::text[]) with ordinality
		k (actor, start_ms, name, n) join vms_events e using (actor, start_ms, name) order by k.n`, actors, starts, names)
}

// stopped is an error if nobody waits any more.
func (l *lister) stopped() error {
	if l.stop == nil {
		return nil
	}
	return l.stop()
}
