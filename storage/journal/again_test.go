package journal_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/journal"
	"vmsbridge/storage/journal/sample"
	"vmsbridge/uplink/vms"
)

// What left the outbox since a place goes once more, at the end, once; what waits, is parked or was
// dropped does not.
func TestAgain(t *testing.T) {
	path := sample.Path(t)
	j := journal.OpenChecked(t, path, journal.Options{})
	low := func() uint64 {
		place, err := j.Low()
		require.NoError(t, err)
		return place
	}
	waiting := func() (ids []string) {
		list, err := j.Peek(100_000)
		require.NoError(t, err)
		for _, e := range list {
			ids = append(ids, e.Event.ID)
		}
		return ids
	}
	ackAll := func() {
		list, err := j.Peek(100_000)
		require.NoError(t, err)
		_, err = j.AckAll(list)
		require.NoError(t, err)
	}
	at := func(actor string, i int) vms.Event {
		start := time.Duration(i) * time.Minute
		return sample.Event(actor, start, start+time.Second)
	}
	const n = 300
	require.EqualValues(t, 1, low())
	var reported, own []vms.Event // most are not for the service
	for i := range n {
		if i%20 == 0 {
			reported = append(reported, at("gate", i))
		} else {
			own = append(own, at("gate", i))
		}
	}
	require.NoError(t, j.PutAll(reported, true))
	require.NoError(t, j.PutAll(own, false))
	ackAll()
	from := low()
	one, parked, dropped, waits := at("yard", 0), at("yard", 1), at("yard", 2), at("yard", 3)
	require.NoError(t, j.Put(one, true))
	ackAll()
	require.NoError(t, j.Put(parked, true))
	list, err := j.Peek(1)
	require.NoError(t, err)
	require.NoError(t, j.Park(parked.ID, list[0].Revision, "no"))
	require.NoError(t, j.Put(dropped, true))
	require.NoError(t, j.Drop(dropped.ID))
	old := at("gate", 0)
	require.NoError(t, j.Put(old, true)) // one of long ago is reported once more
	ackAll()
	require.NoError(t, j.Put(waits, true))
	require.Equal(t, []string{waits.ID}, waiting())
	last, err := j.LastPlace()
	require.NoError(t, err)

	again := func(w journal.Again, n int) (total int) {
		t.Helper()
		after := ""
		for {
			queued, next, err := j.Again(w, after, n)
			require.NoError(t, err)
			if total += queued; next == "" {
				return total
			}
			after = next
		}
	}
	since := journal.Again{From: from, Upto: last + 1}
	require.Equal(t, 2, again(since, 1))
	require.Equal(t, []string{waits.ID, old.ID, one.ID}, waiting(), "behind what waits")
	require.Zero(t, again(since, 1), "not twice")
	ackAll()
	require.Equal(t, 1, again(since, 1), "the one that waited then")
	require.Equal(t, n/20+1, again(journal.Again{From: 0, Upto: low()}, 500), "all that the service ever had")
	require.NoError(t, j.Close())
	j = journal.OpenChecked(t, path, journal.Options{})
	require.Len(t, waiting(), n/20+2)
	ackAll()

	require.Equal(t, 4, again(journal.Again{Since: at("gate", n-4).StartTimestamp.Time}, 10),
		"by time, whatever they were")
	ackAll()
	require.Equal(t, 5,
		again(journal.Again{Since: at("gate", 1).StartTimestamp.Time, Until: at("gate", 3).StartTimestamp.Time}, 10),
		"of the yard, too, also what was dropped, but not what is parked")
	journal.RequireClean(t, j)
}
