package journal

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/journal/sample"
)

// How far an event is follows what happens to its report.
func TestWays(t *testing.T) {
	j := open(t, sample.Path(t), Options{})
	local, ev := sample.Event("cam-1", 0, time.Second), sample.Event("cam-1", time.Minute, 2*time.Minute)
	asked := []string{local.ID, ev.ID, "unknown", "", strings.Repeat("x", 1<<16)}
	is := func(want Way, why string) {
		t.Helper()
		ways, reasons, err := j.Ways(asked)
		require.NoError(t, err)
		require.Equal(t, want, ways[ev.ID])
		require.Equal(t, why, reasons[ev.ID])
		delete(ways, ev.ID)
		require.Empty(t, ways, "no other is on a way")
	}
	acked := func(park bool) {
		t.Helper()
		list, err := j.Peek(1)
		require.NoError(t, err)
		require.Len(t, list, 1)
		if park {
			err = j.Park(ev.ID, list[0].Revision, "no such camera")
		} else {
			err = ack(j, ev.ID, list[0].Revision)
		}
		require.NoError(t, err)
	}
	require.NoError(t, j.Put(local, false))
	is(OnNoWay, "")
	require.NoError(t, j.Put(ev, true))
	is(Waiting, "")
	acked(true)
	is(Refused, "no such camera")
	require.NoError(t, j.Retry(ev.ID))
	is(Waiting, "")
	acked(false)
	is(Accepted, "")
	require.NoError(t, j.Put(ev, true))
	is(Waiting, "")
	require.NoError(t, j.Drop(ev.ID))
	is(OnNoWay, "")
}
