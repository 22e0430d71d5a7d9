package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"vmsbridge/storage/journal/schema"
	"vmsbridge/uplink/vms"
)

// The sequence of changes. Each event that is put while there are cursors has one row in
// vms_changes, at the place of its latest change: so it comes once to each cursor, as it is now.
//
// A place is made of the number of the transaction and of the event's in it. Transactions end in
// another order than they begin, so who reads up to the newest place that he sees would never see
// those that were committed later at places before it. A cursor reads below the horizon: the
// oldest transaction that had not ended when it looked (pg_snapshot_xmin,
// https://www.postgresql.org/docs/15/functions-info.html). All processes that read one database see
// the same places.

// placeBits is how many bits of a place are the event's number in its transaction. Numbers of
// transactions have 64 bits, of which 43 last for centuries.
const placeBits = 20

// mostAtOnce is how many events one transaction can store.
const mostAtOnce = 1<<placeBits - 1

// follow notes the change of events where somebody follows.
var follow = fmt.Sprintf(`insert into vms_changes (place, at_ms, actor, start_ms, name)
	select (pg_current_xact_id()::text::bigint << %d) + n, $5, actor, start_ms, name
	from unnest($1::text[], $2::bigint[], $3::text[], $4::bigint[]) k (actor, start_ms, name, n)
	where exists (select from vms_cursors)
	on conflict (actor, start_ms, name) do update set place = excluded.place, at_ms = excluded.at_ms`, placeBits)

// horizon is where places begin that cannot be read yet.
var horizon = fmt.Sprintf(`(pg_snapshot_xmin(pg_current_snapshot())::text::bigint << %d)`, placeBits)

// Cursor reads all events that are put, from the moment on when its name was first given to
// Cursors, in the order in which they were put: each once, as it is now. What it has not passed is
// kept for it, so someone must call Trim now and then. Its methods are safe for concurrent use.
type Cursor struct {
	of      *Events
	name    string
	changed chan struct{}

	mu    sync.Mutex // guards what follows
	pause time.Duration
}

// How long to wait for a transaction that holds up the horizon, at first and at most.
const firstPause, longestPause = 5 * time.Millisecond, time.Second

// Cursors opens the cursors of these names, in their order, and forgets all others, durably. A new
// one stands behind everything that was put so far; one that is open already is the same again.
// Without names, no changes are noted. What is put before the first call is kept for the cursors
// of last time.
func (e *Events) Cursors(names ...string) ([]*Cursor, error) {
	for i, name := range names {
		if name == "" || len(name) > 256 || slices.Contains(names[:i], name) {
			return nil, fmt.Errorf("open cursor %q: it needs a name of its own, of at most 256 bytes", name)
		}
	}
	names = append([]string{}, names...) // nil would be null
	err := e.db.write(readCommitted, func(ctx context.Context, conn *pgx.Conn) error {
		if err := lowerPlaces(ctx, conn); err != nil {
			return err
		}
		for _, sql := range []string{
			`delete from vms_cursors where name <> all ($1::text[])`,
			fmt.Sprintf(`insert into vms_cursors select name, pg_current_xact_id()::text::bigint << %d, 0
				from unnest($1::text[]) t (name) on conflict do nothing`, placeBits),
		} {
			if _, err := conn.Exec(ctx, sql, names); err != nil {
				return err
			}
		}
		return consume(ctx, conn)
	})
	if err != nil {
		return nil, fmt.Errorf("open the cursors: %w", err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	list := make([]*Cursor, len(names))
	for i, name := range names {
		if at := slices.IndexFunc(e.cursors, func(c *Cursor) bool { return c.name == name }); at >= 0 {
			list[i] = e.cursors[at]
		} else {
			list[i] = &Cursor{of: e, name: name, changed: make(chan struct{}, 1)}
		}
		list[i].signal()
	}
	e.cursors = list
	return list, nil
}

// lowerPlaces makes places low again in a database that was restored from a dump into another
// server, whose transactions have lower numbers: what is put there would stand before what the
// cursors have passed.
func lowerPlaces(ctx context.Context, conn *pgx.Conn) error {
	var high bool
	err := conn.QueryRow(ctx, fmt.Sprintf(`select coalesce(greatest((select max(place) from vms_changes),
		(select max(place) from vms_cursors)) >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint << %d, false)`,
		placeBits)).Scan(&high)
	if err != nil || !high {
		return err
	}
	for _, sql := range []string{
		`update vms_cursors c set place = (select count(*) from vms_changes where place <= c.place)`,
		`update vms_changes c set place = -n from (select place, row_number() over (order by place) n
			from vms_changes) o where o.place = c.place`, // none takes the place of another one on the way
		`update vms_changes set place = -place`,
	} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}

// consume removes what all cursors have passed.
func consume(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, `delete from vms_changes
		where place <= coalesce((select min(place) from vms_cursors), 9223372036854775807)`)
	return err
}

// tell wakes those who follow.
func (e *Events) tell() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, c := range e.cursors {
		c.signal()
	}
}

func (c *Cursor) signal() {
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

// Now is the clock of Queued.Since.
func (c *Cursor) Now() time.Time { return c.of.db.opts.Now() }

// Changed has a value after this process put an event, and at first. One value may stand for many
// changes.
func (c *Cursor) Changed() <-chan struct{} { return c.changed }

// stand reads where the cursor stands, or the place after if that is further, where the horizon
// is, and whether there is something behind that.
func (c *Cursor) stand(ctx context.Context, conn *pgx.Conn, after uint64) (from, to int64, skipped uint64, hidden bool,
	err error) {
	err = conn.QueryRow(ctx, `select greatest(place, $2), `+horizon+`, skipped,
		exists (select from vms_changes where place >= `+horizon+`) from vms_cursors where name = $1`,
		c.name, int64(after)).Scan(&from, &to, &skipped, &hidden)
	if errors.Is(err, pgx.ErrNoRows) {
		err = refuse(errors.New("it was forgotten"))
	}
	return from, to, skipped, hidden, err
}

// Read is up to n changes behind a place, in order; 0 is where the cursor stands. An event that is
// gone or damaged is left out, so fewer than n do not mean that there are no more; none does.
func (c *Cursor) Read(after uint64, n int) (list []vms.Queued, err error) {
	hidden := false
	err = c.of.read(func(ctx context.Context, conn *pgx.Conn) error {
		list = nil
		from, to, _, late, err := c.stand(ctx, conn, after)
		hidden = late
		for found := n; err == nil && len(list) == 0 && found == n && n > 0; {
			var rows pgx.Rows
			if rows, err = conn.Query(ctx, `select c.place, c.at_ms, e.body from vms_changes c
				join vms_events e using (actor, start_ms, name)
				where c.place > $1 and c.place < $2 order by c.place limit $3`, from, to, n); err != nil {
				return err
			}
			var at int64
			var body []byte
			found = 0
			_, err = pgx.ForEachRow(rows, []any{&from, &at, &body}, func() error {
				found++
				if ev, _, err := schema.ReadEvent(nil, body); err == nil {
					list = append(list, vms.Queued{Event: ev, Place: uint64(from), Since: schema.MSTime(at),
						Newest: true})
				}
				return nil
			})
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read changes for %q: %w", c.name, err)
	}
	if hidden && len(list) < n {
		c.again(len(list) > 0)
	}
	return list, nil
}

// again wakes the reader once more, since a transaction holds up what was put behind it.
func (c *Cursor) again(got bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pause = min(2*c.pause, longestPause); got || c.pause == 0 {
		c.pause = firstPause
	}
	time.AfterFunc(c.pause, c.signal)
}

// Place is where the cursor stands: what was put up to there it has passed, or it was trimmed.
func (c *Cursor) Place() (place uint64, err error) {
	err = c.of.read(func(ctx context.Context, conn *pgx.Conn) error {
		from, _, _, _, err := c.stand(ctx, conn, 0)
		place = uint64(from)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("read the cursor of %q: %w", c.name, err)
	}
	return place, nil
}

// Advance notes, durably, that everything up to a place was dealt with. A place that is passed
// already changes nothing.
func (c *Cursor) Advance(place uint64) error {
	err := c.of.db.write(readCommitted, func(ctx context.Context, conn *pgx.Conn) error {
		if _, _, _, _, err := c.stand(ctx, conn, 0); err != nil {
			return err
		}
		if _, err := conn.Exec(ctx, `update vms_cursors set place = $2 where name = $1 and place < $2`, c.name,
			int64(place)); err != nil {
			return err
		}
		return consume(ctx, conn)
	})
	if err != nil {
		return fmt.Errorf("advance the cursor of %q: %w", c.name, err)
	}
	return nil
}

// Lag is how far the cursor is behind, from a place on if its owner is done with everything up to
// that, though it has not noted so; 0 takes what is noted.
func (c *Cursor) Lag(after uint64) (l vms.Lag, err error) {
	err = c.of.read(func(ctx context.Context, conn *pgx.Conn) error {
		l, err = c.lag(ctx, conn, after)
		return err
	})
	if err != nil {
		return vms.Lag{}, fmt.Errorf("read the cursor of %q: %w", c.name, err)
	}
	return l, nil
}

func (c *Cursor) lag(ctx context.Context, conn *pgx.Conn, after uint64) (l vms.Lag, err error) {
	from, _, skipped, _, err := c.stand(ctx, conn, after)
	if err != nil {
		return l, err
	}
	l.Skipped = skipped
	var oldest *int64
	err = conn.QueryRow(ctx, `select (select count(*) from vms_changes where place > $1),
		(select at_ms from vms_changes where place > $1 order by place limit 1)`, from).Scan(&l.Waiting, &oldest)
	if oldest != nil {
		l.Oldest = schema.MSTime(*oldest)
	}
	return l, err
}

// Trim gives up changes that were put before a time (the zero time: none) and the oldest of those
// that are more than most (0: none), for this cursor only. It returns how many; they are counted in
// Lag.Skipped for good.
func (c *Cursor) Trim(most int, before time.Time) (skipped int, err error) {
	if l, err := c.Lag(0); err != nil || (most <= 0 || l.Waiting <= most) && !l.Oldest.Before(before) {
		return 0, err
	}
	err = c.of.db.write(readCommitted, func(ctx context.Context, conn *pgx.Conn) error {
		from, to, _, _, err := c.stand(ctx, conn, 0)
		if err != nil {
			return err
		}
		waiting := 0
		if most > 0 {
			l, err := c.lag(ctx, conn, 0)
			if err != nil {
				return err
			}
			waiting = l.Waiting - most
		}
		limit := int64(0)
		if !before.IsZero() {
			limit = before.UnixMilli()
		}
		// From the oldest on, up to the first that is neither too much nor too old.
		var end int64
		err = conn.QueryRow(ctx, `with gone as (select place from (select place, at_ms, row_number() over (order by place) n
				from vms_changes where place > $2 and place < $3) o
			where n <= $4 or place < coalesce((select place from vms_changes where place > $2 and at_ms >= $5
				order by place limit 1), $3))
			update vms_cursors set place = coalesce((select max(place) from gone), place),
				skipped = skipped + (select count(*) from gone) where name = $1
			returning (select count(*) from gone), place`, c.name, from, to, waiting, limit).Scan(&skipped, &end)
		if err != nil {
			return err
		}
		return consume(ctx, conn)
	})
	if err != nil {
		return 0, fmt.Errorf("trim the changes for %q: %w", c.name, err)
	}
	return skipped, nil
}
