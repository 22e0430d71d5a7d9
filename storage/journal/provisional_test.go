package journal

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/journal/sample"
	"vmsbridge/uplink/vms"
)

// TestSettle puts the events of an untrue clock right: those that wait, that go on, that are
// parked, that nobody is to be told of. Each is once there, in its old place, and what comes later
// of the same event replaces it.
func TestSettle(t *testing.T) {
	const by = 20000*24*time.Hour + 1234*time.Millisecond
	path := sample.Path(t)
	j, err := Open(path, Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, j.Close()) }()
	follower := broker(t, j)
	untrue := func(actor string, start, end time.Duration) vms.Event { return sample.Event(actor, start-by, end-by) }
	ended, goesOnHere := untrue("ended", time.Second, 3*time.Second),
		sample.Event("on", 2*time.Second-by, sample.GoesOn)
	require.NoError(t, j.Put(sample.Event("true", 0, time.Second), true))
	require.NoError(t, j.Write(Record{Event: ended, Report: true, Era: 5})[0])
	require.NoError(t, j.Write(Record{Event: goesOnHere, Report: true, Era: 5})[0])
	require.NoError(t, touch(j, goesOnHere.ID, sample.Epoch.Add(7*time.Second-by)))
	require.NoError(t, j.Write(Record{Event: untrue("quiet", 3*time.Second, 4*time.Second), Era: 5})[0])
	parked := untrue("parked", 4*time.Second, 5*time.Second)
	require.NoError(t, j.Write(Record{Event: parked, Report: true, Era: 5})[0])
	other := untrue("other", 5*time.Second, 6*time.Second)
	require.NoError(t, j.Write(Record{Event: other, Report: true, Era: 6})[0])
	twin := sample.Event("ended", time.Second, 2*time.Second)
	require.NoError(t, j.Put(twin, true), "another event at the very millisecond where one comes to stand")

	entries, err := j.Peek(100)
	require.NoError(t, err)
	require.Len(t, entries, 6)
	require.NoError(t, j.Park(parked.ID, entries[3].Revision, "no"))
	from, to, ok, err := j.Extent(5)
	require.NoError(t, err)
	require.True(t, ok)
	require.True(t, from.Equal(sample.Epoch.Add(time.Second-by)))
	require.True(t, to.Equal(sample.Epoch.Add(7*time.Second-by)))

	for range 2 { // the second time as after a crash
		n, more, err := j.Settle(5, by, func(ev vms.Event) vms.Event {
			ev.SetData(ev.Data[0].WithField("clock", "rough"))
			return ev
		})
		require.NoError(t, err)
		require.Contains(t, []int{4, 0}, n)
		require.False(t, more)
		requireClean(t, j)
		require.NoError(t, j.Close())
		j, err = Open(path, Options{})
		require.NoError(t, err)
		follower = broker(t, j)
	}
	require.NoError(t, ack(j, ended.ID, entries[1].Revision), "an answer to what was sent before finds nothing")
	entries, err = j.Peek(100)
	require.NoError(t, err)
	var got []string
	for _, e := range entries {
		got = append(got, e.Event.ActorID)
		require.Equal(t, e.Event.NaturalID(), e.Event.ID)
	}
	require.Equal(t, []string{"true", "ended", "on", "other", "ended"}, got, "in their old order")
	require.True(t, entries[1].Event.StartTimestamp.Equal(sample.Epoch.Add(time.Second+time.Millisecond)),
		"beside its twin")
	require.True(t, entries[3].Event.StartTimestamp.Equal(other.StartTimestamp.Time), "of another era")
	require.Contains(t, entries[2].Event.DataSchemas, "vms.test.v1")
	var data struct{ Clock string }
	require.NoError(t, entries[2].Event.Data[0].Into(&data))
	require.Equal(t, "rough", data.Clock)
	open, err := j.Unfinished()
	require.NoError(t, err)
	require.Len(t, open, 1)
	require.True(t, open[0].Last.Equal(sample.Epoch.Add(7*time.Second)), "%s", open[0].Last)
	list, err := j.Parked()
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.True(t, list[0].Event.StartTimestamp.Equal(sample.Epoch.Add(4*time.Second)))
	require.Equal(t, []string{"true", "other", "ended", "ended", "on", "parked", "quiet"}, sortedTail(t, follower, 3))

	// The event that went on ends: it is the same event.
	end := sample.Event("on", 2*time.Second, 9*time.Second)
	require.NoError(t, j.Put(end, true))
	page, err := j.List(vms.Query{PageSize: 100}, nil)
	require.NoError(t, err)
	require.Len(t, page.Events, 7)
	_, err = j.Get(goesOnHere.ID)
	require.ErrorIs(t, err, ErrNotFound)
	_, _, ok, err = j.Extent(5)
	require.NoError(t, err)
	require.False(t, ok)
	requireClean(t, j)
}

// broker opens a cursor.
func broker(t testing.TB, j *Journal) *Cursor {
	t.Helper()
	list, err := j.Cursors("broker")
	require.NoError(t, err)
	return list[0]
}

// sortedTail is the actors of what a cursor reads, of which those from n on are in the order of
// their names: they were settled in the order of their ids.
func sortedTail(t testing.TB, c *Cursor, n int) []string {
	t.Helper()
	changes, err := c.Read(0, 1000)
	require.NoError(t, err)
	names := make([]string, 0, len(changes))
	for _, ch := range changes {
		names = append(names, ch.Event.ActorID)
		require.True(t, ch.Newest)
	}
	slices.Sort(names[n:])
	return names
}

// TestSettleInPieces puts more events right than one transaction takes, with a restart in between
// as after a crash, while what went on ends under its right time: it is one event, before its turn
// has come and after.
func TestSettleInPieces(t *testing.T) {
	const by, n = 300 * 24 * time.Hour, 3*settlePiece + settlePiece/2
	path := sample.Path(t)
	j, err := Open(path, Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, j.Close()) }()
	broker(t, j)
	second := func(i int) time.Duration { return time.Duration(i) * time.Second }
	name := func(i int) string { return fmt.Sprintf("camera%04d", i) }
	for i := range n {
		ev := sample.Event(name(i), second(i)-by, sample.GoesOn)
		require.NoError(t, j.Write(Record{Event: ev, Report: true, Era: 5})[0])
	}
	ends := func(i int) { require.NoError(t, j.Put(sample.Event(name(i), second(i), second(i+1)), true)) }
	ends(0) // of another time, as far as the journal knows: nothing is being settled
	require.NoError(t, j.Drop(sample.Event(name(0), second(0), sample.GoesOn).ID))

	settled, more, err := j.Settle(5, by, nil)
	require.NoError(t, err)
	require.Equal(t, settlePiece, settled)
	require.True(t, more)
	ends(1)     // was settled
	ends(n - 1) // was not
	ends(n - 2)
	ends(n - 2) // and again
	require.NoError(t, j.Put(sample.Event("new", second(n), second(n+1)), true))
	requireClean(t, j)
	require.NoError(t, j.Close())
	j, err = Open(path, Options{})
	require.NoError(t, err)
	follower := broker(t, j)
	for more {
		var some int
		some, more, err = j.Settle(5, by, nil)
		require.NoError(t, err)
		settled += some
		ends(n / 2)
	}
	require.Equal(t, n-2, settled, "two were when they ended")
	require.Nil(t, j.settling.Load())
	requireClean(t, j)

	page, err := j.List(vms.Query{PageSize: 2 * n}, nil)
	require.NoError(t, err)
	require.Len(t, page.Events, n+2, "all, the new one, and the one of another time")
	for i, ev := range page.Events {
		require.False(t, ev.StartTimestamp.Before(sample.Epoch), "%d: %s", i, ev.ID)
	}
	open, err := j.Unfinished()
	require.NoError(t, err)
	require.Len(t, open, n-4)
	list, err := follower.Read(0, 3*n)
	require.NoError(t, err)
	for _, c := range list {
		require.False(t, c.Untrue)
	}
}

// An event that was stamped with an untrue time may come when the era's error is known, for a disk
// may take seconds: it gets its right time, and is the same event as its older version and its
// newer one.
func TestProvisionalAfterTheAnnouncement(t *testing.T) {
	const by = 300 * 24 * time.Hour
	j := open(t, sample.Path(t), Options{})
	began := sample.Event("cam", time.Second-by, sample.GoesOn)
	require.NoError(t, j.Write(Record{Event: began, Report: true, Era: 5})[0])
	j.Announce(5, by)
	late := sample.Event("cam", time.Second-by, 3*time.Second-by)
	other := sample.Event("other", 2*time.Second-by, 4*time.Second-by)
	require.NoError(t, j.Write(Record{Event: late, Report: true, Era: 5})[0])
	require.NoError(t, j.Write(Record{Event: other, Report: true, Era: 5})[0])
	n, more, err := j.Settle(5, by, nil)
	require.NoError(t, err)
	require.False(t, more)
	require.Zero(t, n, "all is right already")
	third := sample.Event("third", 5*time.Second-by, 6*time.Second-by)
	require.NoError(t, j.Write(Record{Event: third, Report: true, Era: 5})[0])
	require.NoError(t, j.Put(sample.Event("cam", time.Second, 7*time.Second), true))
	page, err := j.List(vms.Query{PageSize: 100}, nil)
	require.NoError(t, err)
	var got []string
	for _, ev := range page.Events {
		got = append(got, fmt.Sprint(ev.ActorID, " ", ev.StartTimestamp.Sub(sample.Epoch), " ",
			ev.EndTimestamp.Sub(sample.Epoch)))
	}
	require.ElementsMatch(t, []string{"cam 1s 7s", "other 2s 4s", "third 5s 6s"}, got)
	_, _, ok, err := j.Extent(5)
	require.NoError(t, err)
	require.False(t, ok)
	requireClean(t, j)
}
