package journal_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/journal"
	"vmsbridge/storage/journal/sample"
	"vmsbridge/storage/journal/schema"
)

func cursors(t testing.TB, j *journal.Journal, names ...string) []*journal.Cursor {
	t.Helper()
	list, err := j.Cursors(names...)
	require.NoError(t, err)
	return list
}

// read is what a cursor reads, as "id began/newest".
func read(t testing.TB, c *journal.Cursor) (list []string) {
	t.Helper()
	changes, err := c.Read(0, 1000)
	require.NoError(t, err)
	for i, ch := range changes {
		if i > 0 {
			require.Greater(t, ch.Place, changes[i-1].Place)
		}
		what := ch.Event.ActorID
		if ch.Began {
			what += " began"
		}
		if !ch.Newest {
			what += " old"
		}
		list = append(list, what)
	}
	return list
}

func pass(t testing.TB, c *journal.Cursor, n int) {
	t.Helper()
	changes, err := c.Read(0, n)
	require.NoError(t, err)
	require.Len(t, changes, n)
	require.NoError(t, c.Advance(changes[n-1].Place))
}

// sequenceLen is how long the sequence of changes is, and how many events have a note of their
// places in it.
func sequenceLen(t testing.TB, j *journal.Journal) (entries, ids int) {
	t.Helper()
	tx, err := j.Begin()
	require.NoError(t, err)
	defer func() { require.NoError(t, tx.Rollback()) }()
	return schema.Keys(tx.Bucket(schema.Changes)), schema.Keys(tx.Bucket(schema.ChangesID))
}

func TestCursorsReadEachForTheirOwn(t *testing.T) {
	path := sample.Path(t)
	j := journal.OpenChecked(t, path, journal.Options{})
	require.NoError(t, j.Put(sample.Event("before", 0, time.Second), true))
	entries, _ := sequenceLen(t, j)
	require.Zero(t, entries, "nobody follows")
	two := cursors(t, j, "broker", "hook")
	require.Empty(t, read(t, two[0]), "a new cursor begins behind what is there")
	<-two[0].Changed()

	require.NoError(t, j.Put(sample.Event("a", 0, sample.GoesOn), true))
	require.NoError(t, j.Put(sample.Event("b", 0, sample.GoesOn), false))
	select {
	case <-two[0].Changed():
	default:
		t.Fatal("not told of the change")
	}
	require.NoError(t, j.Put(sample.Event("a", 0, 5*time.Second), true))
	for _, c := range two {
		require.Equal(t, []string{"a began old", "b began", "a"}, read(t, c))
	}
	pass(t, two[0], 2)
	require.Equal(t, []string{"a"}, read(t, two[0]))
	require.Equal(t, []string{"a began old", "b began", "a"}, read(t, two[1]))
	journal.RequireClean(t, j)

	// The outbox has nothing to do with it.
	out, err := j.Peek(10)
	require.NoError(t, err)
	_, err = j.AckAll(out)
	require.NoError(t, err)
	n, err := j.Prune(journal.Retention{Before: sample.Epoch.Add(24 * time.Hour)})
	require.NoError(t, err)
	require.Equal(t, 1, n, "only what nobody follows may go")
	require.Equal(t, []string{"a"}, read(t, two[0]))

	// What all have passed goes.
	pass(t, two[1], 3)
	entries, ids := sequenceLen(t, j)
	require.Equal(t, []int{1, 1}, []int{entries, ids})
	pass(t, two[0], 1)
	entries, ids = sequenceLen(t, j)
	require.Equal(t, []int{0, 0}, []int{entries, ids})
	journal.RequireClean(t, j)
	n, err = j.Prune(journal.Retention{Before: sample.Epoch.Add(24 * time.Hour)})
	require.NoError(t, err)
	require.Equal(t, 1, n, "b goes on")

	// A name that is not asked for is forgotten; one that comes back is new.
	require.NoError(t, j.Put(sample.Event("c", 0, time.Second), false))
	hook := cursors(t, j, "hook")[0]
	require.Error(t, two[0].Advance(99), "it is closed")
	require.Equal(t, []string{"c"}, read(t, hook))
	require.Empty(t, read(t, cursors(t, j, "hook", "broker")[1]))
	cursors(t, j)
	entries, ids = sequenceLen(t, j)
	require.Equal(t, []int{0, 0}, []int{entries, ids})
	_, err = j.Cursors("x", "x")
	require.Error(t, err)
}

// An event that is put again and again stays two entries, and who is behind learns of its newest
// form.
func TestSequenceOfChangesStaysShort(t *testing.T) {
	j := journal.OpenChecked(t, sample.Path(t), journal.Options{})
	c := cursors(t, j, "home")[0]
	for i := range 50 {
		require.NoError(t, j.Put(sample.Event("a", 0, sample.GoesOn), true))
		if i == 10 {
			require.NoError(t, j.Put(sample.Event("b", 0, time.Second), true))
		}
	}
	require.Equal(t, []string{"b", "a began"}, read(t, c))
	for i := range 50 {
		require.NoError(t, j.Put(sample.Event("a", 0, time.Duration(i)*time.Second), true))
	}
	require.Equal(t, []string{"b", "a began old", "a"}, read(t, c))
	list, err := c.Read(0, 10)
	require.NoError(t, err)
	require.Equal(t, sample.Epoch.Add(49*time.Second), list[1].Event.EndTimestamp.Time,
		"the newest form stands at both")
	require.NoError(t, j.Put(sample.Event("a", 0, sample.GoesOn), true))
	require.Equal(t, []string{"b", "a began"}, read(t, c))
	journal.RequireClean(t, j)
}

// What was put by a clock that had not been set is not old for that.
func TestTrimAfterAnUntrueClock(t *testing.T) {
	now := time.Unix(60, 0)
	j := journal.OpenChecked(t, sample.Path(t), journal.Options{Now: func() time.Time { return now }})
	c := cursors(t, j, "home")[0]
	require.NoError(t, j.Put(sample.Event("a", 0, time.Second), true))
	now = sample.Epoch
	require.Equal(t, sample.Epoch, c.Now())
	n, err := c.Trim(0, sample.Epoch.Add(-time.Hour))
	require.NoError(t, err)
	require.Zero(t, n)
	require.NoError(t, j.Put(sample.Event("b", 0, time.Second), true))
	n, err = c.Trim(1, sample.Epoch.Add(-time.Hour))
	require.NoError(t, err)
	require.Equal(t, 1, n)
}

// What is put before its time is known is told as such, and again when it is.
func TestCursorsAndProvisionalEvents(t *testing.T) {
	j := journal.OpenChecked(t, sample.Path(t), journal.Options{})
	c := cursors(t, j, "home")[0]
	require.NoError(t, j.Write(journal.Record{Event: sample.Event("a", 0, sample.GoesOn), Report: true, Era: 3})[0])
	list, err := c.Read(0, 10)
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.True(t, list[0].Untrue)
	old := list[0]
	_, _, err = j.Settle(3, time.Hour, nil)
	require.NoError(t, err)
	list, err = c.Read(0, 10)
	require.NoError(t, err)
	require.Len(t, list, 1, "in place of the other")
	require.False(t, list[0].Untrue)
	require.Greater(t, list[0].Place, old.Place)
	require.NotEqual(t, old.Event.ID, list[0].Event.ID)
	require.True(t, list[0].Began)
	journal.RequireClean(t, j)
}

func TestTrimOfChanges(t *testing.T) {
	now := sample.Epoch
	path := sample.Path(t)
	j := journal.OpenChecked(t, path, journal.Options{Now: func() time.Time { return now }})
	two := cursors(t, j, "dead", "alive")
	for i := range 20 {
		now = sample.Epoch.Add(time.Duration(i) * time.Minute)
		require.NoError(t, j.Put(sample.Event(fmt.Sprint(i), 0, time.Second), true))
	}
	n, err := two[0].Trim(20, sample.Epoch)
	require.NoError(t, err)
	require.Zero(t, n)
	n, err = two[0].Trim(15, time.Time{})
	require.NoError(t, err)
	require.Equal(t, 5, n)
	require.Equal(t, "5", read(t, two[0])[0], "the oldest went")
	n, err = two[0].Trim(0, sample.Epoch.Add(12*time.Minute))
	require.NoError(t, err)
	require.Equal(t, 7, n)
	l, err := two[0].Lag(0)
	require.NoError(t, err)
	require.Equal(t, journal.Lag{Waiting: 8, Oldest: sample.Epoch.Add(12 * time.Minute), Skipped: 12}, l)
	list, err := two[0].Read(0, 3)
	require.NoError(t, err)
	l, err = two[0].Lag(list[2].Place)
	require.NoError(t, err)
	require.Equal(t, journal.Lag{Waiting: 5, Oldest: sample.Epoch.Add(15 * time.Minute), Skipped: 12}, l)
	require.Len(t, read(t, two[1]), 20, "the other one loses nothing")
	pass(t, two[1], 20)
	entries, _ := sequenceLen(t, j)
	require.Equal(t, 8, entries)
	journal.RequireClean(t, j)
}
