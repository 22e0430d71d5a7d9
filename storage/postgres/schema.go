package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// step brings the tables from one version to the next. What stands in one is never changed: a newer
// version adds a step; format.md has the rules.
type step struct {
	sql string
	// oldest is the version of the tables that a program must know, at least, to work with them
	// once this step is done. 0 means that of this step.
	oldest int
}

// versions is the tables, by the version that brought them; format.md describes them.
var versions = []step{1: {sql: `
create table vms_node (
	one bool primary key default true check (one),
	epoch bigint not null,
	name text not null
);
insert into vms_node values (true, 0, '');
create table vms_records (
	bucket text collate "C" not null,
	key bytea not null,
	value bytea not null,
	primary key (bucket, key)
) with (fillfactor = 85);
create table vms_sequences (
	bucket text collate "C" primary key,
	last bigint not null
) with (fillfactor = 50);
create table vms_events (
	actor text collate "C" not null,
	start_ms bigint not null,
	name text collate "C" not null,
	type text collate "C" not null,
	actor_type text collate "C" not null,
	end_ms bigint,
	owner text not null,
	body bytea not null,
	primary key (actor, start_ms, name)
) partition by range (start_ms);
create index vms_events_ongoing on vms_events (actor) where end_ms is null;
create table vms_events_other partition of vms_events default;
`}, 2: {sql: `
create table vms_changes (
	place bigint primary key,
	at_ms bigint not null,
	actor text collate "C" not null,
	start_ms bigint not null,
	name text collate "C" not null,
	unique (actor, start_ms, name)
);
create table vms_cursors (
	name text collate "C" primary key,
	place bigint not null,
	skipped bigint not null
) with (fillfactor = 50);
`}, 3: {oldest: 2, sql: `
create table vms_counts (
	actor text collate "C" not null,
	week bigint not null,
	type text collate "C" not null,
	actor_type text collate "C" not null,
	latest bigint not null,
	d0 int not null default 0,
	d1 int not null default 0,
	d2 int not null default 0,
	d3 int not null default 0,
	d4 int not null default 0,
	d5 int not null default 0,
	d6 int not null default 0,
	primary key (actor, week, type, actor_type)
) with (fillfactor = 70);
create table vms_counted (
	week bigint primary key,
	actor text collate "C"
);
create function vms_count_inserted() returns trigger language plpgsql as $$ begin
	insert into vms_counts as c select actor, start_ms / 604800000, type, actor_type, coalesce(max(end_ms), 0),
		count(*) filter (where start_ms / 86400000 % 7 = 0), count(*) filter (where start_ms / 86400000 % 7 = 1),
		count(*) filter (where start_ms / 86400000 % 7 = 2), count(*) filter (where start_ms / 86400000 % 7 = 3),
		count(*) filter (where start_ms / 86400000 % 7 = 4), count(*) filter (where start_ms / 86400000 % 7 = 5),
		count(*) filter (where start_ms / 86400000 % 7 = 6)
	from changed where start_ms >= 0 group by 1, 2, 3, 4 order by 1, 2, 3, 4
	on conflict (actor, week, type, actor_type) do update set latest = greatest(c.latest, excluded.latest),
		d0 = c.d0 + excluded.d0, d1 = c.d1 + excluded.d1, d2 = c.d2 + excluded.d2, d3 = c.d3 + excluded.d3,
		d4 = c.d4 + excluded.d4, d5 = c.d5 + excluded.d5, d6 = c.d6 + excluded.d6;
	return null;
end $$;
create function vms_count_updated() returns trigger language plpgsql as $$ begin
	insert into vms_counts as c (actor, week, type, actor_type, latest)
	select actor, start_ms / 604800000, type, actor_type, max(end_ms)
	from changed where start_ms >= 0 and end_ms is not null group by 1, 2, 3, 4 order by 1, 2, 3, 4
	on conflict (actor, week, type, actor_type) do update set latest = excluded.latest where c.latest < excluded.latest;
	return null;
end $$;
create function vms_count_deleted() returns trigger language plpgsql as $$ begin
	update vms_counts c set d0 = c.d0 - g.d0, d1 = c.d1 - g.d1, d2 = c.d2 - g.d2, d3 = c.d3 - g.d3, d4 = c.d4 - g.d4,
		d5 = c.d5 - g.d5, d6 = c.d6 - g.d6
	from (select actor, start_ms / 604800000 as week, type, actor_type,
		count(*) filter (where start_ms / 86400000 % 7 = 0) as d0, count(*) filter (where start_ms / 86400000 % 7 = 1) as d1,
		count(*) filter (where start_ms / 86400000 % 7 = 2) as d2, count(*) filter (where start_ms / 86400000 % 7 = 3) as d3,
		count(*) filter (where start_ms / 86400000 % 7 = 4) as d4, count(*) filter (where start_ms / 86400000 % 7 = 5) as d5,
		count(*) filter (where start_ms / 86400000 % 7 = 6) as d6
		from changed where start_ms >= 0 group by 1, 2, 3, 4) g
	where c.actor = g.actor and c.week = g.week and c.type = g.type and c.actor_type = g.actor_type;
	delete from vms_counts c using (select distinct actor from changed) g
	where c.actor = g.actor and d0 + d1 + d2 + d3 + d4 + d5 + d6 = 0;
	return null;
end $$;
create function vms_count_renamed() returns trigger language plpgsql as $$ begin
	delete from vms_counted where week = old.start_ms / 604800000;
	return null;
end $$;
create trigger vms_count_inserted after insert on vms_events referencing new table as changed
	for each statement execute function vms_count_inserted();
create trigger vms_count_updated after update on vms_events referencing new table as changed
	for each statement execute function vms_count_updated();
create trigger vms_count_deleted after delete on vms_events referencing old table as changed
	for each statement execute function vms_count_deleted();
create trigger vms_count_renamed after update of actor_type on vms_events
	for each row when (old.actor_type <> new.actor_type) execute function vms_count_renamed();
`}, 4: {oldest: 2, sql: `
create table vms_sorted (
	week bigint primary key,
	copied bool not null
);
create table vms_late (
	actor text collate "C" not null,
	start_ms bigint not null,
	name text collate "C" not null
);
create function vms_note_late() returns trigger language plpgsql as $$ begin
	if tg_op <> 'INSERT' then
		insert into vms_late values (old.actor, old.start_ms, old.name);
	end if;
	if tg_op <> 'DELETE' then
		insert into vms_late values (new.actor, new.start_ms, new.name);
	end if;
	return null;
end $$;
`}}

// migrate brings the tables up to date, all of it or nothing, or leaves them as a newer program
// made them, if this one may still work with them. The lock is held.
func migrate(ctx context.Context, conn *pgx.Conn, versions []step) error {
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		version, oldest := 0, 0
		_, err := tx.Exec(ctx, `create table if not exists vms_schema (version int not null)`)
		if err == nil { // null: as old as the version, as those that did not know the column wrote
			_, err = tx.Exec(ctx, `alter table vms_schema add column if not exists oldest int`)
		}
		if err == nil {
			err = tx.QueryRow(ctx, `select coalesce(max(version), 0), coalesce(max(coalesce(oldest, version)), 0)
				from vms_schema`).Scan(&version, &oldest)
		}
		if err != nil {
			return fmt.Errorf("look at the tables: %w", err)
		}
		if known := len(versions) - 1; oldest > known {
			return fmt.Errorf("the tables have version %d, which needs a program that knows %d; this one knows %d: "+
				"use a newer program", version, oldest, known)
		}
		for v := version + 1; v < len(versions); v++ {
			if _, err = tx.Exec(ctx, versions[v].sql); err == nil {
				_, err = tx.Exec(ctx, `insert into vms_schema (version, oldest) values ($1, nullif($2, 0))`, v,
					versions[v].oldest)
			}
			if err != nil {
				return fmt.Errorf("bring the tables to version %d: %w", v, err)
			}
		}
		return nil
	})
}
