package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"vmsbridge/storage/journal"
)

// Events stand in partitions of a week of their starts, from Thursday to Thursday, as weeks since
// 1970-01-01 are. Those before the oldest and far in the future stand in vms_events_other.
const (
	week        = 7 * 24 * time.Hour
	weeksBefore = 6 // made at first: bridges report what they hold of a month
	weeksAhead  = 2
	partPrefix  = "vms_events_w"
)

// settingsOf a partition: room on each page for the row's next form, so that an end needs no new
// entry in the key; bodies, which are JSON, compressed in the row.
const partSettings = `with (fillfactor = 85, toast_tuple_target = 256)`

func weekOf(t time.Time) int64 {
	n := t.UnixMilli() / week.Milliseconds()
	if t.UnixMilli() < n*week.Milliseconds() {
		n--
	}
	return n
}

func partName(n int64) string {
	return partPrefix + time.UnixMilli(n*week.Milliseconds()).UTC().Format("20060102")
}

// partitions are the weeks that there are partitions of.
func partitions(ctx context.Context, conn *pgx.Conn) (weeks []int64, err error) {
	rows, err := conn.Query(ctx, `select c.relname::text from pg_inherits i join pg_class c on c.oid = i.inhrelid
		where i.inhparent = 'vms_events'::regclass order by 1`)
	if err != nil {
		return nil, err
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	for _, name := range names {
		if at, err := time.Parse("20060102", strings.TrimPrefix(name, partPrefix)); err == nil {
			weeks = append(weeks, weekOf(at))
		}
	}
	return weeks, err
}

// makePartitions makes those that will be wanted soon. Events that came before their partition move
// into it.
func (e *Events) makePartitions() error {
	return e.db.write(readCommitted, func(ctx context.Context, conn *pgx.Conn) error {
		there, err := partitions(ctx, conn)
		if err != nil {
			return err
		}
		now, newest := weekOf(e.db.opts.Now()), int64(0)
		for _, n := range there {
			newest = max(newest, n)
		}
		from := now - weeksBefore
		if len(there) > 0 {
			from = max(from, newest+1) // what is older was dropped
		}
		for n := from; n <= now+weeksAhead; n++ {
			if err := makePartition(ctx, conn, n); err != nil {
				return fmt.Errorf("make the partition of events %s: %w", partName(n), err)
			}
			there = append(there, n)
		}
		return forgetWeeks(ctx, conn, there)
	})
}

func makePartition(ctx context.Context, conn *pgx.Conn, n int64) error {
	name, from, to := partName(n), n*week.Milliseconds(), (n+1)*week.Milliseconds()
	for _, sql := range []string{
		fmt.Sprintf(`create table %s (like vms_events including defaults including constraints) %s`, name, partSettings),
		fmt.Sprintf(`alter table %s alter body set storage main, alter body set compression lz4`, name),
		`lock table vms_events_other in access exclusive mode`,
		fmt.Sprintf(`with moved as (delete from vms_events_other where start_ms >= %d and start_ms < %d returning *)
			insert into %s select * from moved`, from, to, name),
		fmt.Sprintf(`alter table vms_events attach partition %s for values from (%d) to (%d)`, name, from, to),
	} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return err
		}
	}
	_, err := conn.Exec(ctx, `insert into vms_counted values ($1, null)`, n)
	return err
}

// Prune removes events that ended before r.Before: all those of weeks that ended before, by
// dropping their partition, and each of those that have no partition. So an event may stay up to a
// week longer. What is ongoing, and what ended later, stays. It also makes the partitions of the
// next weeks, and puts those that are over in the order of actors, which may take minutes and ends
// early when Run does. It must not run beside itself. Keep and Oldest are refused: how much there
// is, PostgreSQL's own disk limits.
func (e *Events) Prune(r journal.Retention) (total int, err error) {
	if r.Keep > 0 || r.Oldest > 0 {
		return 0, errors.New("prune events: PostgreSQL removes events by their age only")
	}
	if err := e.makePartitions(); err != nil {
		return 0, err
	}
	if !r.Before.IsZero() {
		total, err = e.dropWeeks(r.Before)
	}
	return total, errors.Join(err, e.sortWeeks(sortAtOnce))
}

// dropWeeks removes what ended before a time, as Prune says.
func (e *Events) dropWeeks(limit time.Time) (total int, err error) {
	before := limit.UnixMilli()
	var weeks []int64
	err = e.read(func(ctx context.Context, conn *pgx.Conn) error { weeks, err = partitions(ctx, conn); return err })
	for _, n := range weeks {
		if err != nil || (n+1)*week.Milliseconds() > before {
			break
		}
		var dropped int
		err = e.db.write(readCommitted, func(ctx context.Context, conn *pgx.Conn) (err error) {
			dropped, err = dropPartition(ctx, conn, n, before)
			return err
		})
		total += dropped
	}
	if err == nil {
		var n int64
		err = e.db.write(readCommitted, func(ctx context.Context, conn *pgx.Conn) error {
			tag, err := conn.Exec(ctx, `delete from vms_events_other where end_ms < $1`, before)
			n = tag.RowsAffected()
			return err
		})
		total += int(n)
	}
	if err != nil {
		return total, fmt.Errorf("prune events: %w", err)
	}
	return total, nil
}

// dropPartition drops the partition of a week, and keeps what must not go yet among the others.
func dropPartition(ctx context.Context, conn *pgx.Conn, n, before int64) (int, error) {
	name := partName(n)
	if _, err := conn.Exec(ctx, fmt.Sprintf(`alter table vms_events detach partition %s`, name)); err != nil {
		return 0, err
	}
	kept, err := conn.Exec(ctx, `insert into vms_events_other select * from `+name+
		` where end_ms is null or end_ms >= $1`, before)
	if err != nil {
		return 0, err
	}
	var all int64
	if err := conn.QueryRow(ctx, `select count(*) from `+name).Scan(&all); err != nil {
		return 0, err
	}
	if _, err = conn.Exec(ctx, `drop table `+name); err == nil {
		var there []int64
		if there, err = partitions(ctx, conn); err == nil {
			err = forgetWeeks(ctx, conn, there)
		}
	}
	return int(all - kept.RowsAffected()), err
}
