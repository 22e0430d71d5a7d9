package identity

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// A thousand who wait in one line hold up somebody in another line by one turn, and who is known by
// none.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newFairSlots(1)
		require.NoError(t, q.acquire(t.Context()))
		var mu sync.Mutex
		var served []string
		wait := func(line string, known bool) {
			go func() {
				if q.acquire(WithClient(t.Context(), line, known)) == nil {
					mu.Lock()
					defer mu.Unlock()
					served = append(served, line)
				}
			}()
			synctest.Wait()
		}
		for range 1000 {
			wait("guesser", false)
		}
		wait("stranger", false)
		wait("owner", true)
		gone, cancel := context.WithCancel(WithClient(t.Context(), "gone", true))
		go func() { _ = q.acquire(gone) }()
		synctest.Wait()
		cancel()
		synctest.Wait()
		for range 1002 {
			q.release()
			synctest.Wait()
		}
		require.Equal(t, "[owner guesser stranger guesser]", fmt.Sprint(served[:4]))
		require.Len(t, served, 1002)
		require.Zero(t, q.free)
		q.release()
		require.Equal(t, 1, q.free)
		require.Empty(t, q.waiting)
		require.Empty(t, append(q.order[0], q.order[1]...))
	})
}

// Whoever gives up while getting a slot passes it on.
func TestTurnsGiveUp(t *testing.T) {
	q := newFairSlots(2)
	var all sync.WaitGroup
	for i := range 200 {
		all.Go(func() {
			ctx, cancel := context.WithCancel(WithClient(t.Context(), fmt.Sprint(i%7), i%5 == 0))
			if i%2 == 0 {
				go cancel()
			}
			if q.acquire(ctx) == nil {
				q.release()
			}
			cancel()
		})
	}
	all.Wait()
	require.Equal(t, 2, q.free)
	require.Empty(t, q.waiting)
}
