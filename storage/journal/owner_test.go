package journal_test

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/journal"
	"vmsbridge/storage/journal/sample"
	"vmsbridge/storage/journal/schema"
	"vmsbridge/uplink/vms"
)

// An event stays its owner's, whichever way another one's is put, and the owner is kept beside it,
// never shown.
func TestAnEventIsItsOwners(t *testing.T) {
	path := sample.Path(t)
	j, err := journal.Open(path, journal.Options{})
	require.NoError(t, err)
	mine := sample.Event("gate", 0, sample.GoesOn)
	mine.Owner = "token:mine"
	require.NoError(t, j.Put(mine, true))
	theirs, other := sample.Event("gate", 0, time.Second), sample.Event("yard", 0, time.Second)
	theirs.Owner, other.Owner = "token:theirs", "token:theirs"
	require.ErrorIs(t, j.Put(theirs, true), vms.ErrOwned)
	require.ErrorIs(t, j.PutAll([]vms.Event{other, theirs}, true), vms.ErrOwned)
	require.ErrorIs(t, j.Write(journal.Record{Event: theirs, Report: true, Era: 7})[0], vms.ErrOwned)
	_, err = j.Get(other.ID)
	require.ErrorIs(t, err, journal.ErrNotFound, "all are stored, or none is")
	waiting, err := j.Peek(10)
	require.NoError(t, err)
	require.Len(t, waiting, 1)
	got, err := j.Get(mine.ID)
	require.NoError(t, err)
	require.Equal(t, mine, got)

	ended := mine
	ended.EndTimestamp = theirs.EndTimestamp
	require.NoError(t, j.Put(ended, true))
	nobodys := sample.Event("hall", 0, sample.GoesOn)
	require.NoError(t, j.Put(nobodys, false))
	nobodys.Owner = "token:first"
	require.NoError(t, j.Put(nobodys, false), "what has no owner gives way")
	shown, err := json.Marshal(ended)
	require.NoError(t, err)
	require.NotContains(t, string(shown), "token:mine")

	want := func(j *journal.Journal) {
		t.Helper()
		journal.RequireClean(t, j)
		got, err := j.Get(ended.ID)
		require.NoError(t, err)
		require.Equal(t, ended, got)
		page, err := j.List(vms.Query{}, nil)
		require.NoError(t, err)
		require.Len(t, page.Events, 2)
		for _, ev := range page.Events {
			require.NotEmpty(t, ev.Owner, "lists read it too")
		}
		require.ErrorIs(t, j.Put(theirs, true), vms.ErrOwned)
	}
	want(j)
	require.NoError(t, j.Close())
	j = journal.OpenChecked(t, path, journal.Options{})
	want(j)

	// A file that is damaged is made anew with the owners.
	require.NoError(t, j.Close())
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	b[sample.ValueOf(t, b, schema.Outbox)+8] ^= 4
	require.NoError(t, os.WriteFile(path, b, 0o600))
	want(journal.OpenChecked(t, path, journal.Options{}))
}

// Events whose times were not true keep their owners, and what tells two of one moment apart.
func TestSettledEventsKeepTheirOwners(t *testing.T) {
	j := journal.OpenChecked(t, sample.Path(t), journal.Options{})
	one := sample.Event("gate", 0, time.Second)
	one.Owner = vms.OwnerSelf
	two := one
	two.ID = two.SuffixedID("object 2")
	require.NoError(t, j.Write(journal.Record{Event: one, Report: true, Era: 3})[0])
	require.NoError(t, j.Write(journal.Record{Event: two, Report: true, Era: 3})[0])
	n, more, err := j.Settle(3, time.Hour, nil)
	require.NoError(t, err)
	require.False(t, more)
	require.Equal(t, 2, n)
	for _, ev := range []vms.Event{one, two} {
		want := ev.Retimed(func(at time.Time) time.Time { return at.Add(time.Hour) })
		require.NotEqual(t, ev.ID, want.ID)
		got, err := j.Get(want.ID)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	journal.RequireClean(t, j)
}
