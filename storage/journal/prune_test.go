package journal

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/journal/sample"
	"vmsbridge/uplink/vms"
)

// TestPruneByNumber: the oldest that the service has go, and none that it has not, whatever their
// age and number.
func TestPruneByNumber(t *testing.T) {
	j := open(t, sample.Path(t), Options{})
	var ids []string
	for i := range 1200 {
		ev := sample.Event("cam", time.Duration(i)*time.Second, time.Duration(i+1)*time.Second)
		if i%100 == 0 {
			ev.EndTimestamp = nil
		}
		require.NoError(t, j.Put(ev, i%4 == 0))
		ids = append(ids, ev.ID)
	}
	waiting, err := j.Peek(1000)
	require.NoError(t, err)
	require.Len(t, waiting, 300)
	for _, e := range waiting[:100] {
		require.NoError(t, ack(j, e.Event.ID, e.Revision))
	}
	for _, e := range waiting[100:150] {
		require.NoError(t, j.Park(e.Event.ID, e.Revision, "no"))
	}
	// 1200 events: 150 wait, 50 are parked, 1000 are the service's (of which 4 go on).
	n, err := j.Prune(Retention{Keep: 1000})
	require.NoError(t, err)
	require.Zero(t, n)
	n, err = j.Prune(Retention{Keep: 300})
	require.NoError(t, err)
	require.Equal(t, 700, n)
	requireClean(t, j)
	s, err := j.OutboxStats()
	require.NoError(t, err)
	require.Equal(t, []int{500, 150, 50}, []int{s.Events, s.Waiting, s.Parked})
	page, err := j.List(vms.Query{PageSize: 2000, Ascending: true}, nil)
	require.NoError(t, err)
	require.Len(t, page.Events, 500)
	var left []string
	for _, ev := range page.Events {
		left = append(left, ev.ID)
	}
	for i, id := range ids {
		switch {
		case i%4 == 0 && i >= 400, i%100 == 0:
			require.Contains(t, left, id, "event %d waits, is parked, or goes on", i)
		case i >= 1000:
			require.Contains(t, left, id, "event %d is new", i)
		case i < 700:
			require.NotContains(t, left, id, "event %d is old", i)
		}
	}

	// Nothing that is not the service's goes, even if nothing else is left.
	_, err = j.Prune(Retention{Keep: 1, Before: sample.Epoch.Add(time.Hour)})
	require.NoError(t, err)
	s, err = j.OutboxStats()
	require.NoError(t, err)
	require.Equal(t, []int{150, 50}, []int{s.Waiting, s.Parked})
	requireClean(t, j)
	for _, e := range waiting[100:] {
		_, err := j.Get(e.Event.ID)
		require.NoError(t, err)
	}
}

// A long outage must not make each round of pruning look only at events that wait.
func TestPrunePassesOverAnOutage(t *testing.T) {
	j := open(t, sample.Path(t), Options{})
	list := make([]vms.Event, 9*pruneBatch)
	for i := range list {
		list[i] = sample.Event(fmt.Sprint("cam", i%9), time.Duration(i)*time.Second, time.Duration(i)*time.Second)
	}
	require.NoError(t, j.PutAll(list[:6*pruneBatch], true))
	require.NoError(t, j.PutAll(list[6*pruneBatch:], false))
	n, err := j.Prune(Retention{Before: sample.Epoch.Add(100 * 24 * time.Hour)})
	require.NoError(t, err)
	require.Equal(t, 3*pruneBatch, n)
	requireClean(t, j)
}
