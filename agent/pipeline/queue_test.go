package pipeline

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/agent/camera"
)

func TestQueueDropsToTheNextRandomAccessPointButKeepsStates(t *testing.T) {
	q := newQueue(func(int) {})
	q.PutUnit(camera.AccessUnit{RandomAccess: true})
	q.PutStatus(camera.Status{State: camera.Online})
	for range maxQueuedUnits {
		q.PutUnit(camera.AccessUnit{})
	}
	// The unit that found the queue full emptied it; it and those after it wait for a random access
	// point.
	require.EqualValues(t, maxQueuedUnits+1, q.Dropped())
	q.PutUnit(camera.AccessUnit{})
	q.PutUnit(camera.AccessUnit{RandomAccess: true, Width: 7})
	q.PutUnit(camera.AccessUnit{Width: 8})

	it, ok := q.TryGet()
	require.True(t, ok)
	require.Equal(t, camera.Online, it.status.State)
	for _, want := range []int{7, 8} {
		it, ok = q.TryGet()
		require.True(t, ok)
		require.Equal(t, want, it.unit.Width)
	}
	_, ok = q.TryGet()
	require.False(t, ok)
	require.EqualValues(t, maxQueuedUnits+2, q.Dropped())
}

func TestQueueBoundsItsBytes(t *testing.T) {
	q := newQueue(func(int) {})
	for range 10 {
		q.PutUnit(camera.AccessUnit{RandomAccess: true, Data: make([]byte, maxQueuedBytes/3)})
		require.LessOrEqual(t, q.bytes, maxQueuedBytes)
	}
	require.EqualValues(t, 9, q.Dropped())
}

func TestQueueBeginsAnewWhereItDroppedTheBeginning(t *testing.T) {
	counted := 0
	q := newQueue(func(n int) { counted += n })
	// the camera came back with another codec
	q.PutUnit(camera.AccessUnit{Codec: camera.H265, RandomAccess: true, NewStream: true})
	for range maxQueuedUnits {
		q.PutUnit(camera.AccessUnit{Codec: camera.H265})
	}
	q.PutUnit(camera.AccessUnit{Codec: camera.H265, RandomAccess: true})
	q.PutUnit(camera.AccessUnit{Codec: camera.H265, RandomAccess: true})
	it, ok := q.TryGet()
	require.True(t, ok)
	require.True(t, it.unit.NewStream, "the decoder of the old codec would get the new one's units")
	it, ok = q.TryGet()
	require.True(t, ok)
	require.False(t, it.unit.NewStream)
	require.Equal(t, maxQueuedUnits+1, counted, "each drop is counted in the metrics")
}

// Drops that go on are told with their share; a single time that the decoder was behind is not, nor
// what is long past.
func TestQueueTellsPersistentDrops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(func(int) {})
		second := func(decoded bool) {
			units := 10
			if !decoded {
				units = maxQueuedUnits + 1 // the last one finds no room
			}
			for range units {
				q.PutUnit(camera.AccessUnit{RandomAccess: true})
				if decoded {
					_, ok := q.TryGet()
					require.True(t, ok)
				}
			}
			for ok := true; ok; {
				_, ok = q.TryGet()
			}
			time.Sleep(time.Second)
		}
		for range 60 {
			second(true)
		}
		require.Zero(t, q.Losing(time.Now()))
		second(false)
		require.Zero(t, q.Losing(time.Now()), "it was behind once")
		for range 30 {
			second(false)
		}
		require.Greater(t, q.Losing(time.Now()), 0.05)
		for range 70 {
			second(true)
		}
		require.Zero(t, q.Losing(time.Now()), "it is over")
	})
}
