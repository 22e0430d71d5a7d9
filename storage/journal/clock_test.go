package journal

import (
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/journal/sample"
	"vmsbridge/uplink/vms"
)

// TestClockSteps steps the clock a thousand times, by up to forty years either way, while events
// come and go. The outbox keeps the order in which they came, and nothing that waits or is parked
// is ever pruned.
func TestClockSteps(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	now := sample.Epoch
	path := sample.Path(t)
	opts := Options{Now: func() time.Time { return now }}
	j, err := Open(path, opts)
	require.NoError(t, err)
	defer func() { require.NoError(t, j.Close()) }()
	var queue []string
	parked := map[string]bool{}
	for step := range 1000 {
		now = now.Add(time.Duration(rng.Int64N(int64(80*365*24*time.Hour))) - 40*365*24*time.Hour)
		if now.Year() < 1970 || now.Year() > 2200 {
			now = sample.Epoch.Add(time.Duration(rng.IntN(1000)) * time.Hour)
		}
		ev := sample.Event("cam", now.Sub(sample.Epoch), now.Sub(sample.Epoch)+time.Second)
		require.NoError(t, j.Put(ev, true))
		queue = append(queue, ev.ID)
		entries, err := j.Peek(3)
		require.NoError(t, err)
		for i, e := range entries {
			require.Equal(t, queue[i], e.Event.ID, "step %d", step)
		}
		switch e := entries[0]; {
		case step%5 == 0:
			require.NoError(t, j.Park(e.Event.ID, e.Revision, "no"))
			parked[e.Event.ID] = true
			queue = queue[1:]
		case step%2 == 0:
			require.NoError(t, ack(j, e.Event.ID, e.Revision))
			queue = queue[1:]
		}
		if step%50 == 0 {
			_, err := j.Prune(Retention{Before: now, Keep: 5})
			require.NoError(t, err)
			require.NoError(t, j.Close())
			j, err = Open(path, opts)
			require.NoError(t, err)
			require.Nil(t, j.Damage())
		}
		s, err := j.OutboxStats()
		require.NoError(t, err)
		require.Equal(t, []int{len(queue), len(parked)}, []int{s.Waiting, s.Parked})
	}
	requireClean(t, j)
	page, err := j.List(vms.Query{PageSize: MaxPageSize, Ascending: true}, nil)
	require.NoError(t, err)
	for i := 1; i < len(page.Events); i++ {
		require.False(t, page.Events[i].StartTimestamp.Before(page.Events[i-1].StartTimestamp.Time))
	}
	for _, id := range queue {
		_, err := j.Get(id)
		require.NoError(t, err)
	}
}

// TestDamageWhileTheClockRunsBackwards: the file that was set aside last is always kept.
func TestDamageWhileTheClockRunsBackwards(t *testing.T) {
	path := sample.Path(t)
	now := sample.Epoch
	for range 6 {
		now = now.Add(-time.Hour)
		require.NoError(t, os.WriteFile(path, []byte("broken"), 0o600))
		j, err := Open(path, Options{Now: func() time.Time { return now }})
		require.NoError(t, err)
		require.FileExists(t, j.Damage().Aside)
		require.NoError(t, j.Close())
	}
}
