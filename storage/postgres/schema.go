package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// versions is the tables, by the version that brought them; format.md describes them. What stands
// here is never changed: a newer version adds a step.
var versions = []string{1: `
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
`, 2: `
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
`}

// migrate brings the tables up to date, all of it or nothing. The lock is held.
func migrate(ctx context.Context, conn *pgx.Conn) error {
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		version, there := 0, false
		err := tx.QueryRow(ctx, `select to_regclass('vms_schema') is not null`).Scan(&there)
		if err == nil && there {
			err = tx.QueryRow(ctx, `select max(version) from vms_schema`).Scan(&version)
		} else if err == nil {
			_, err = tx.Exec(ctx, `create table vms_schema (version int not null)`)
		}
		if err != nil {
			return fmt.Errorf("look at the tables: %w", err)
		}
		if version >= len(versions) {
			return fmt.Errorf("the tables have version %d, this program knows %d: use a newer program",
				version, len(versions)-1)
		}
		for v := version + 1; v < len(versions); v++ {
			if _, err = tx.Exec(ctx, versions[v]); err == nil {
				_, err = tx.Exec(ctx, `insert into vms_schema values ($1)`, v)
			}
			if err != nil {
				return fmt.Errorf("bring the tables to version %d: %w", v, err)
			}
		}
		return nil
	})
}
