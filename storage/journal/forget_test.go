package journal

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/journal/sample"
	"vmsbridge/uplink/vms"
)

// Forget takes all that an actor has, ended or not, and nothing else; what waits to be reported
// stays.
func TestForget(t *testing.T) {
	j := open(t, sample.Path(t), Options{})
	want := 0
	var quiet, waiting []vms.Event
	for i := range 5000 {
		ev := sample.Event(fmt.Sprintf("cam-%d", i%5), time.Duration(i)*time.Second, time.Duration(i+1)*time.Second)
		if i%7 == 0 {
			ev.EndTimestamp = nil
		}
		if i%100 == 0 {
			waiting = append(waiting, ev)
			continue
		}
		if quiet = append(quiet, ev); i%5 < 2 {
			want++
		}
	}
	require.NoError(t, j.PutAll(quiet, false))
	require.NoError(t, j.PutAll(waiting, true))
	gone := func(a vms.Actor) bool { return a.Type == vms.ActorCamera && (a.ID == "cam-0" || a.ID == "cam-1") }
	n, err := j.Forget(gone)
	require.NoError(t, err)
	require.Equal(t, want, n)
	requireClean(t, j)
	page, err := j.List(vms.Query{PageSize: 6000, Ascending: true}, nil)
	require.NoError(t, err)
	require.Len(t, page.Events, 5000-want)
	n, err = j.Forget(gone)
	require.NoError(t, err)
	require.Zero(t, n)
	n, err = j.Forget(func(vms.Actor) bool { return false })
	require.NoError(t, err)
	require.Zero(t, n)
}
