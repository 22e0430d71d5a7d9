package postgres

import (
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"vmsbridge/storage/database"
	"vmsbridge/storage/journal"
	"vmsbridge/storage/postgres/postgrestest"
)

// A program brings older tables up to date, works beside newer ones as far as their step says that
// it can, and refuses others, having changed nothing.
func TestSchemaVersions(t *testing.T) {
	var all strings.Builder
	for _, table := range []string{"node", "records", "sequences", "events", "changes", "cursors"} {
		all.WriteString("alter table vms_" + table + " add column note text;")
	}
	expand := step{all.String(), len(versions) - 1}
	contract := step{"alter table vms_node drop column note", len(versions)}
	next := slices.Concat(versions, []step{expand})
	after := slices.Concat(next, []step{contract})
	broken := slices.Concat(versions, []step{{"alter table vms_nothing add column note text", 0}})
	first := versions[:2]
	for _, c := range []struct {
		name      string
		made      []step // by which program the tables were made
		opens     []step
		version   int
		says      string
		withoutIt bool // made by a program that did not know the column "oldest"
	}{
		{name: "new", opens: versions, version: len(versions) - 1},
		{name: "the same", made: versions, opens: versions, version: len(versions) - 1},
		{name: "the first", made: first, opens: versions, version: len(versions) - 1, withoutIt: true},
		{name: "an older program, the step was not said to expand", made: versions, opens: first,
			version: len(versions) - 1, says: "use a newer program"},
		{name: "of before the column, an older program", made: versions, opens: first,
			version: len(versions) - 1, says: "which needs a program that knows 4; this one knows 1", withoutIt: true},
		{name: "n-1 beside n that expanded", made: next, opens: versions, version: len(versions)},
		{name: "n-1 beside n that contracted", made: after, opens: versions, version: len(versions) + 1,
			says: "use a newer program"},
		{name: "n beside n that contracted", made: after, opens: next, version: len(versions) + 1},
		{name: "a step that fails", made: versions, opens: broken, version: len(versions) - 1,
			says: "bring the tables to version"},
	} {
		t.Run(c.name, func(t *testing.T) {
			address := postgrestest.Shared(t).Database(t)
			conn, err := pgx.Connect(t.Context(), address)
			require.NoError(t, err)
			defer func() { require.NoError(t, conn.Close(t.Context())) }()
			if c.made != nil {
				require.NoError(t, migrate(t.Context(), conn, c.made))
			}
			if c.withoutIt {
				admin(t, address, "alter table vms_schema drop column oldest")
			}
			err = migrate(t.Context(), conn, c.opens)
			if c.says == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, c.says)
			}
			var version, rows int
			counted := conn.QueryRow(t.Context(), "select max(version), count(*) from vms_schema")
			require.NoError(t, counted.Scan(&version, &rows))
			require.Equal(t, []int{c.version, c.version}, []int{version, rows})
			if version == len(versions) { // it does its work on what the next release made
				db := openAt(t, address)
				e, err := db.Events()
				require.NoError(t, err)
				require.NoError(t, e.PutAll(list(event("a/cam", zero)), true))
				require.NoError(t, putOne(db.Records("r"), "k"))
				require.NoError(t, db.Records("r").Update(func(tx database.Tx) error {
					_, err := tx.Bucket("b").NextSequence()
					return err
				}))
				_, err = e.Cursors("streams")
				require.NoError(t, err)
				_, err = e.Prune(journal.Retention{Before: zero.AddDate(1, 0, 0)})
				require.NoError(t, err)
			}
		})
	}
}
