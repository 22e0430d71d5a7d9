package journal

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/vms"
)

// Forget takes all that an actor has, ended or not, and nothing else; what waits to be reported stays.
func TestForget(t *testing.T) {
	j := openFast(t, temp(t))
	want := 0
	for i := range 5000 {
		ev := event(fmt.Sprintf("cam-%d", i%5), time.Duration(i)*time.Second, time.Duration(i+1)*time.Second)
		if i%7 == 0 {
			ev.EndTimestamp = nil
		}
		waits := i%100 == 0
		if require.NoError(t, j.Put(ev, waits)); i%5 < 2 && !waits {
			want++
		}
	}
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
