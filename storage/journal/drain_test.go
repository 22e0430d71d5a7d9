package journal

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/journal/sample"
	"vmsbridge/storage/journal/schema"
	"vmsbridge/uplink/vms"
)

// scanned is what Scan visits.
func scanned(t *testing.T, j *Journal, after uint64, n int) (places []uint64, actors []string) {
	t.Helper()
	require.NoError(t, j.Scan(after, n, func(place uint64, actor string) {
		places, actors = append(places, place), append(actors, actor)
	}))
	return places, actors
}

func TestScanLoadAckAll(t *testing.T) {
	j := open(t, sample.Path(t), Options{})
	last, err := j.LastPlace()
	require.NoError(t, err)
	require.Zero(t, last)
	for i := range 6 {
		require.NoError(t,
			j.Put(sample.Event(fmt.Sprint("cam", i%2), time.Duration(i)*time.Second, time.Duration(i+1)*time.Second),
				true))
	}
	places, actors := scanned(t, j, 0, 100)
	require.Len(t, places, 6)
	require.IsIncreasing(t, places)
	require.Equal(t, []string{"cam0", "cam1", "cam0", "cam1", "cam0", "cam1"}, actors)
	part, _ := scanned(t, j, places[1], 2)
	require.Equal(t, places[2:4], part)
	last, err = j.LastPlace()
	require.NoError(t, err)
	require.Equal(t, places[5], last)

	entries, err := j.Load([]uint64{places[4], 999, places[0]})
	require.NoError(t, err)
	require.Len(t, entries, 2)
	require.Equal(t, places[4], entries[0].Place)
	require.Equal(t, places[0], entries[1].Place)

	// One is put again after it was read: it stays, at its place.
	again := entries[1].Event
	again.EndTimestamp = vms.Ptr(again.EndTimestamp.Add(time.Second))
	require.NoError(t, j.Put(again, true))
	renewed, err := j.AckAll(entries)
	require.NoError(t, err)
	require.Equal(t, []uint64{places[0]}, renewed)
	left, _ := scanned(t, j, 0, 100)
	require.Equal(t, []uint64{places[0], places[1], places[2], places[3], places[5]}, left)

	// Later entries stand after LastPlace, also after the outbox was emptied.
	all, err := j.Load(left)
	require.NoError(t, err)
	renewed, err = j.AckAll(all)
	require.NoError(t, err)
	require.Empty(t, renewed)
	last, err = j.LastPlace()
	require.NoError(t, err)
	require.NoError(t, j.Put(sample.Event("cam0", time.Hour, 2*time.Hour), true))
	left, _ = scanned(t, j, last, 100)
	require.Len(t, left, 1)
	stats, err := j.OutboxStats()
	require.NoError(t, err)
	require.Equal(t, 1, stats.Waiting)
}

func TestPutAllIsAllOrNothing(t *testing.T) {
	j := open(t, sample.Path(t), Options{})
	good, bad := sample.Event("cam0", 0, time.Second), sample.Event("cam1", 0, time.Second)
	bad.EndTimestamp = vms.Ptr(bad.StartTimestamp.Add(-time.Second))
	require.ErrorIs(t, j.PutAll([]vms.Event{good, bad}, true), schema.ErrInvalid)
	_, err := j.Get(good.ID)
	require.ErrorIs(t, err, ErrNotFound)
	other := sample.Event("cam1", 0, time.Second)
	require.NoError(t, j.PutAll([]vms.Event{good, other, good}, true))
	places, actors := scanned(t, j, 0, 10)
	require.Len(t, places, 2)
	require.Equal(t, []string{"cam0", "cam1"}, actors)
}
