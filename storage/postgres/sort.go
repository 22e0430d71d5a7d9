package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Events come in by time, so that those of one camera stand in as many blocks as there are events.
// Once a week is over, and what bridges held back has come, its partition is copied in the order of
// its key, which is that of accounts, actors and starts, and the copy takes its place. What changes
// in it meanwhile a trigger notes in vms_late, whichever release writes it.

const (
	// sortAfter is how long after its end a week is put in order: what comes later stands at the
	// end of the partition, which costs a block for each.
	sortAfter = 3 * day
	// sortAtOnce is how many events are copied in one transaction, which holds up followers for as
	// long.
	sortAtOnce = 1000
	// sortTable is the copy while it is made: of one week at a time.
	sortTable = "vms_events_sorting"
	// sortWait is how long a copy waits for lists under way before it takes the partition's place:
	// others wait behind it.
	sortWait = 2 * time.Second
)

// sortWeeks puts the weeks that are over in order, the newest first. One that PostgreSQL refuses,
// as for want of room on its disk, leaves no copy behind, and it is left at that for a day.
func (e *Events) sortWeeks(atOnce int) error {
	for !e.db.hasEnded() && !e.db.opts.Now().Before(e.sortAgain) {
		n, copied, err := e.nextToSort()
		if err != nil || n < 0 {
			return err
		}
		if err = e.copyWeek(n, copied, atOnce); err == nil && !e.db.hasEnded() {
			err = e.sorting(takePlace(n))
		}
		pg, ok := errors.AsType[*pgconn.PgError](err)
		switch {
		case err == nil:
		case ok && pg.Code == codeLockTimeout: // it is tried again with the copy as it is
			return nil
		case ok:
			e.sortAgain = e.db.opts.Now().Add(day)
			drop := e.sorting(forgetCopy)
			return errors.Join(fmt.Errorf("put the events of %s in order: %w", partName(n), plain(err)), drop)
		default:
			return fmt.Errorf("put the events of %s in order: %w", partName(n), plain(err))
		}
	}
	return nil
}

const codeLockTimeout = "55P03"

// sorting is a transaction without which the service does as well: that it fails is no sign that
// PostgreSQL takes no events.
func (e *Events) sorting(do func(context.Context, *pgx.Conn) error) error {
	return e.db.write(readCommitted, func(ctx context.Context, conn *pgx.Conn) error {
		err := do(ctx, conn)
		if pg, ok := errors.AsType[*pgconn.PgError](err); ok && !isConflict(pg) {
			return refuse(err)
		}
		return err
	})
}

// nextToSort is the week to be put in order next, -1 for none, and whether its copy has been begun.
// It forgets a copy whose week was dropped meanwhile.
func (e *Events) nextToSort() (n int64, begun bool, err error) {
	err = e.sorting(func(ctx context.Context, conn *pgx.Conn) error {
		n, begun = -1, false
		there, err := partitions(ctx, conn)
		if err != nil {
			return err
		}
		rows, err := conn.Query(ctx, `select week, copied from vms_sorted`)
		if err != nil {
			return err
		}
		type row struct {
			Week   int64
			Copied bool
		}
		list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[row])
		if err != nil {
			return err
		}
		done := map[int64]bool{}
		for _, r := range list {
			switch done[r.Week] = true; {
			case slices.Contains(there, r.Week) && !r.Copied:
				n, begun = r.Week, true
			case slices.Contains(there, r.Week):
			case r.Copied:
				_, err = conn.Exec(ctx, `delete from vms_sorted where week = $1`, r.Week)
			default:
				err = forgetCopy(ctx, conn)
			}
			if err != nil {
				return err
			}
		}
		over := weekOf(e.db.opts.Now().Add(-sortAfter))
		for _, w := range there {
			if !begun && w < over && !done[w] {
				n = max(n, w)
			}
		}
		return nil
	})
	return n, begun, err
}

// forgetCopy removes the copy that is being made, and what was noted for it.
func forgetCopy(ctx context.Context, conn *pgx.Conn) error {
	if _, err := conn.Exec(ctx, `drop table if exists `+sortTable); err != nil {
		return err
	}
	rows, err := conn.Query(ctx, `select tgrelid::regclass::text from pg_trigger where tgname = 'vms_note_late'`)
	if err != nil {
		return err
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	for _, table := range tables {
		if _, err = conn.Exec(ctx, `drop trigger vms_note_late on `+table); err != nil {
			return err
		}
	}
	if err == nil {
		_, err = conn.Exec(ctx, `delete from vms_late`)
	}
	if err == nil {
		_, err = conn.Exec(ctx, `delete from vms_sorted where not copied`)
	}
	return err
}

// copyWeek copies the events of a week in order, from where it came to, and then what changed
// meanwhile until little is left.
func (e *Events) copyWeek(n int64, begun bool, atOnce int) error {
	name := partName(n)
	if !begun {
		if err := e.sorting(beginCopy(n)); err != nil {
			return err
		}
	}
	for more := true; more && !e.db.hasEnded(); {
		began := time.Now()
		err := e.sorting(func(ctx context.Context, conn *pgx.Conn) error {
			var last key
			err := conn.QueryRow(ctx, `select actor, start_ms, name from `+sortTable+
				` order by actor desc, start_ms desc, name desc limit 1`).Scan(&last.Actor, &last.Start, &last.Name)
			if err != nil && !errors.Is(err, pgx.ErrNoRows) {
				return err
			}
			tag, err := conn.Exec(ctx, `insert into `+sortTable+` select * from `+name+` where (actor, start_ms, name) > ($1, $2, $3)
				order by actor, start_ms, name limit $4`, last.Actor, last.Start, last.Name, atOnce)
			more = tag.RowsAffected() == int64(atOnce)
			return err
		})
		if err != nil {
			return err
		}
		time.Sleep(min(time.Since(began), time.Second)) // the disk is others' as well
	}
	for more := true; more && !e.db.hasEnded(); {
		err := e.sorting(func(ctx context.Context, conn *pgx.Conn) error {
			late, err := copyLate(ctx, conn, name, atOnce)
			more = late == atOnce
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// beginCopy makes the copy's table, and has changes of the week noted from now on.
func beginCopy(n int64) func(context.Context, *pgx.Conn) error {
	name := partName(n)
	return func(ctx context.Context, conn *pgx.Conn) error {
		return inTurn(ctx, conn,
			fmt.Sprintf(`create table %s (like %s including all) with (fillfactor = 95, toast_tuple_target = 256)`,
				sortTable, name),
			fmt.Sprintf(`alter table %s add constraint vms_week check (start_ms >= %d and start_ms < %d)`, sortTable,
				n*week.Milliseconds(), (n+1)*week.Milliseconds()), // else each row would be looked at in the end
			// Waits for transactions that changed the week: what they stored is copied.
			fmt.Sprintf(`create trigger vms_note_late after insert or update or delete on %s
			for each row execute function vms_note_late()`, name),
			fmt.Sprintf(`insert into vms_sorted values (%d, false)`, n))
	}
}

func inTurn(ctx context.Context, conn *pgx.Conn, statements ...string) error {
	for _, sql := range statements {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}

// copyLate copies some of the events that changed, as they are now, and returns how many changes
// there were. What changes after it looked is noted once more.
func copyLate(ctx context.Context, conn *pgx.Conn, name string, atOnce int) (int, error) {
	rows, err := conn.Query(ctx, `delete from vms_late where ctid = any(array(select ctid from vms_late limit $1))
		returning actor, start_ms, name`, atOnce)
	if err != nil {
		return 0, err
	}
	keys, err := pgx.CollectRows(rows, pgx.RowToStructByPos[key])
	if err != nil || len(keys) == 0 {
		return 0, err
	}
	changes := len(keys)
	slices.SortFunc(keys, compareKeys)
	keys = slices.Compact(keys)
	var actors, names []string
	var starts []int64
	for _, k := range keys {
		actors, starts, names = append(actors, k.Actor), append(starts, k.Start), append(names, k.Name)
	}
	const of = ` (select * from unnest($1::text[], $2::bigint[], $3::text[]) k (actor, start_ms, name)) k`
	_, err = conn.Exec(ctx, `delete from `+sortTable+` s using`+of+
		` where (s.actor, s.start_ms, s.name) = (k.actor, k.start_ms, k.name)`, actors, starts, names)
	if err == nil {
		_, err = conn.Exec(ctx, `insert into `+sortTable+` select s.* from`+of+` join `+name+
			` s using (actor, start_ms, name)`, actors, starts, names)
	}
	return changes, err
}

// takePlace has the copy take the place of the week's partition, with the last changes.
func takePlace(n int64) func(context.Context, *pgx.Conn) error {
	return func(ctx context.Context, conn *pgx.Conn) error {
		name := partName(n)
		err := inTurn(ctx, conn,
			fmt.Sprintf(`set local lock_timeout = %d`, sortWait.Milliseconds()),
			`lock table only vms_events in access exclusive mode`, // first, as all do who use partitions
			`lock table `+name+` in access exclusive mode`)
		for late := 1; late > 0 && err == nil; {
			late, err = copyLate(ctx, conn, name, mostAtOnce)
		}
		if err != nil {
			return err
		}
		return inTurn(ctx, conn,
			fmt.Sprintf(`alter table vms_events detach partition %s`, name),
			`drop table `+name,
			fmt.Sprintf(`alter table %s rename to %s`, sortTable, name),
			fmt.Sprintf(`alter table vms_events attach partition %s for values from (%d) to (%d)`, name,
				n*week.Milliseconds(), (n+1)*week.Milliseconds()),
			fmt.Sprintf(`alter table %s drop constraint vms_week`, name),
			fmt.Sprintf(`update vms_sorted set copied = true where week = %d`, n))
	}
}
