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
