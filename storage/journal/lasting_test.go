package journal_test

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/journal"
	"vmsbridge/storage/journal/file"
	"vmsbridge/storage/journal/sample"
	"vmsbridge/storage/journal/schema"
	"vmsbridge/uplink/vms"
)

// repaired opens a journal after a bit of a value of a bucket was flipped, and the file repaired.
func repaired(t *testing.T, path string, bucket []byte, at int) *journal.Journal {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	b[sample.ValueOf(t, b, bucket)+at] ^= 4
	require.NoError(t, os.WriteFile(path, b, 0o600))
	h, err := file.Hold(path, time.Second)
	require.NoError(t, err)
	d, err := h.Repair(file.Options{})
	require.NoError(t, err)
	require.NotNil(t, d)
	require.NoError(t, h.Close())
	return journal.OpenChecked(t, path, journal.Options{})
}

// What cursors promise lasts over a restart, a file of before they were, a compaction and a
// recovery.
func TestCursorsLast(t *testing.T) {
	path := sample.Path(t)
	j, err := journal.Open(path, journal.Options{CompactAbove: 1})
	require.NoError(t, err)
	ballast := make([]vms.Event, 500) // what it leaves behind is worth a compaction
	for i := range ballast {
		ballast[i] = sample.Event(fmt.Sprint("ballast", i), -time.Hour, -time.Hour)
	}
	require.NoError(t, j.PutAll(ballast, false))
	n, err := j.Prune(journal.Retention{Before: sample.Epoch})
	require.NoError(t, err)
	require.Equal(t, len(ballast), n)
	c := cursors(t, j, "home")[0]
	for i := range 30 {
		require.NoError(t, j.Put(sample.Event(fmt.Sprint(i), 0, sample.GoesOn), true))
	}
	pass(t, c, 10)
	require.NoError(t, j.Put(sample.Event("0", 0, time.Second), true))
	want := read(t, c)
	require.Len(t, want, 21)
	before, err := c.Read(0, 100)
	require.NoError(t, err)
	compact, err := j.Compact(t.Context())
	require.NoError(t, err)
	require.Less(t, compact.After, compact.Before)
	require.Equal(t, want, read(t, c))
	journal.RequireClean(t, j)
	require.NoError(t, j.Close())

	again := journal.OpenChecked(t, path, journal.Options{})
	require.NoError(t, again.Put(sample.Event("late", 0, time.Second), true), "before the cursors are opened")
	c = cursors(t, again, "home")[0]
	require.Equal(t, append(slices.Clone(want), "late"), read(t, c))
	list, err := c.Read(before[len(before)-1].Place, 10)
	require.NoError(t, err)
	require.Len(t, list, 1, "places go on")
	require.NoError(t, again.Close())

	// A byte of an event is damaged: the others are still told of.
	hurt := repaired(t, path, schema.Events, 100)
	c = cursors(t, hurt, "home")[0]
	require.GreaterOrEqual(t, len(read(t, c)), 20)
	pass(t, c, len(read(t, c)))
	require.NoError(t, hurt.Put(sample.Event("after", 0, time.Second), true))
	require.Equal(t, []string{"after"}, read(t, c))
}

// Damage to the sequence or to a cursor costs that home what it had still to read there, and no
// more; and nothing where the segments are beside the file.
func TestDamageToCursors(t *testing.T) {
	for name, bucket := range map[string][]byte{"an entry": schema.Changes, "a cursor": schema.Meta} {
		t.Run(name, func(t *testing.T) {
			path := sample.Path(t)
			j, err := journal.Open(path, journal.Options{})
			require.NoError(t, err)
			cursors(t, j, "home")
			for i := range 20 {
				require.NoError(t, j.Put(sample.Event(fmt.Sprint(i), 0, time.Second), true))
			}
			require.NoError(t, j.Close())
			closed, err := os.ReadFile(path)
			require.NoError(t, err)
			hurt := repaired(t, path, bucket, 8)
			require.Len(t, read(t, cursors(t, hurt, "home")[0]), 20)
			require.NoError(t, hurt.Close())

			require.NoError(t, sample.RemoveSegments(path))
			require.NoError(t, os.WriteFile(path, closed, 0o600))
			hurt = repaired(t, path, bucket, 8)
			c := cursors(t, hurt, "home")[0]
			if name == "an entry" {
				require.Len(t, read(t, c), 19)
			} else {
				require.Empty(t, read(t, c), "it begins anew")
			}
			require.NoError(t, hurt.Put(sample.Event("after", 0, time.Second), true))
			require.Contains(t, read(t, c), "after")
			st, err := hurt.OutboxStats()
			require.NoError(t, err)
			require.Equal(t, 21, st.Waiting, "the outbox has nothing to do with it")
		})
	}
}

// A cursor that damage takes while it is open is made again for who asked for it, at the end.
func TestDamageToACursorWhileItIsOpen(t *testing.T) {
	j := journal.OpenChecked(t, sample.Path(t), journal.Options{})
	list := cursors(t, j, "home")
	require.NoError(t, j.Put(sample.Event("before", 0, time.Second), true))
	require.NoError(t, journal.ChangeRows(j, func(tx *schema.Tx) error {
		return tx.Bucket(schema.Meta).Delete(schema.CursorKey("home"))
	}))
	require.Empty(t, read(t, list[0]))
	require.NoError(t, j.Put(sample.Event("after", 0, time.Second), true))
	require.Equal(t, []string{"after"}, read(t, list[0]))
}

// A backlog of a sink that is no more delays no start; what it leaves behind goes with Prune.
func TestABacklogOfNobodyDelaysNoStart(t *testing.T) {
	for name, names := range map[string][]string{"no cursor": nil, "another cursor": {"other"}} {
		t.Run(name, func(t *testing.T) {
			path := sample.Path(t)
			j, err := journal.Open(path, journal.Options{})
			require.NoError(t, err)
			cursors(t, j, append(names, "home")...)
			events := make([]vms.Event, 5000)
			for i := range events {
				events[i] = sample.Event(fmt.Sprint(i), -time.Hour, -time.Hour)
			}
			require.NoError(t, j.PutAll(events, false))
			if len(names) > 0 {
				pass(t, cursors(t, j, append(names, "home")...)[0], len(events))
			}
			require.NoError(t, j.Close())

			j = journal.OpenChecked(t, path, journal.Options{})
			before := transaction(t, j)
			_, err = j.Cursors(names...)
			require.NoError(t, err)
			require.LessOrEqual(t, transaction(t, j)-before, 1)
			n, err := j.Prune(journal.Retention{Before: sample.Epoch})
			require.NoError(t, err)
			require.Equal(t, len(events), n, "nobody waits for them any more")
		})
	}
}

// transaction is the number of the newest one.
func transaction(t *testing.T, j *journal.Journal) int {
	tx, err := j.Begin()
	require.NoError(t, err)
	defer tx.Rollback()
	return tx.ID()
}
