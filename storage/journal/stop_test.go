package journal

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/journal/sample"
	"vmsbridge/uplink/vms"
)

// A list that nobody waits for any more ends, however many events it would count.
func TestAListEndsWithItsClient(t *testing.T) {
	j := open(t, sample.Path(t), Options{})
	var all []vms.Event
	for i := range 5000 {
		all = append(all, sample.Event("cam", time.Duration(i)*time.Second, time.Duration(i+1)*time.Second))
	}
	putMany(t, j, all)
	asked := 0
	q := vms.Query{Stop: func() error { asked++; return nil }}
	page, err := j.List(q, nil)
	require.NoError(t, err)
	require.Equal(t, len(all), page.Total)
	require.Positive(t, asked)
	whole := asked
	for stopAt := 1; stopAt <= whole; stopAt++ {
		asked = 0
		q.Stop = func() error {
			if asked++; asked == stopAt {
				return context.Canceled
			}
			if asked > stopAt {
				return errors.New("asked again")
			}
			return nil
		}
		_, err = j.List(q, nil)
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, stopAt, asked)
	}
}

// A program that is to end does not wait until millions of events are counted or removed.
func TestWeighingAndPruningEnd(t *testing.T) {
	j := open(t, sample.Path(t), Options{})
	var all []vms.Event
	for i := range 3 * weighStretch {
		all = append(all, sample.Event("cam", time.Duration(i)*time.Second, time.Duration(i+1)*time.Second))
	}
	putMany(t, j, all)
	ctx, cancel := context.WithCancel(t.Context())
	weighed := 0
	err := j.Weigh(ctx.Err, func(vms.Actor, int) { weighed++; cancel() })
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, weighStretch, weighed)
	asked := 0
	n, err := j.Prune(Retention{Oldest: len(all), Stop: func() error {
		if asked++; asked > 2 {
			return context.Canceled
		}
		return nil
	}})
	require.ErrorIs(t, err, context.Canceled)
	require.Positive(t, n)
	require.Less(t, n, len(all))
	requireClean(t, j)
}
