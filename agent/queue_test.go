package agent

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/agent/camera"
)

func TestQueueDropsToTheNextRandomAccessPointButKeepsStates(t *testing.T) {
	q := newQueue()
	q.PutUnit(camera.AccessUnit{RandomAccess: true})
	q.PutStatus(camera.Status{State: camera.Online})
	for range maxQueuedUnits {
		q.PutUnit(camera.AccessUnit{})
	}
	// The unit that found the queue full emptied it; it and those after it wait for a random access point.
	require.EqualValues(t, maxQueuedUnits+1, q.Dropped())
	q.PutUnit(camera.AccessUnit{})
	q.PutUnit(camera.AccessUnit{RandomAccess: true, Width: 7})
	q.PutUnit(camera.AccessUnit{Width: 8})

	it, ok := q.Get(t.Context())
	require.True(t, ok)
	require.Equal(t, camera.Online, it.status.State)
	for _, want := range []int{7, 8} {
		it, ok = q.Get(t.Context())
		require.True(t, ok)
		require.Equal(t, want, it.unit.Width)
	}
	_, ok = q.TryGet()
	require.False(t, ok)
	require.EqualValues(t, maxQueuedUnits+2, q.Dropped())
}

func TestQueueBoundsItsBytes(t *testing.T) {
	q := newQueue()
	for range 10 {
		q.PutUnit(camera.AccessUnit{RandomAccess: true, Data: make([]byte, maxQueuedBytes/3)})
		require.LessOrEqual(t, q.bytes, maxQueuedBytes)
	}
	require.EqualValues(t, 9, q.Dropped())
}

func TestQueueGetEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	_, ok := newQueue().Get(ctx)
	require.False(t, ok)
}
