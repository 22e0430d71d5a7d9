package journal

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"vmsbridge/storage/journal/sample"
	"vmsbridge/storage/vfs/vfstest"
	"vmsbridge/uplink/vms"
)

func TestFullDisk(t *testing.T) {
	dir := vfstest.TinyDiskHeld(t, 1<<20)
	ballast := filepath.Join(dir, "ballast")
	require.NoError(t, os.WriteFile(ballast, make([]byte, 300<<10), 0o600))
	path := filepath.Join(dir, "journal.db")
	j := open(t, path, Options{})
	// Two writers, so that batches of more than one are cut down too.
	var mu sync.Mutex
	stored := map[string]vms.Event{}
	var wg sync.WaitGroup
	for w := range 2 {
		wg.Go(func() {
			for i := range 10000 {
				ev := sample.Event(fmt.Sprint("cam", w), time.Duration(i)*time.Second, time.Duration(i)*time.Second)
				err := j.Put(ev, true)
				if err != nil {
					assert.ErrorIs(t, err, ErrFull)
					assert.ErrorContains(t, err, "free disk space")
					return
				}
				mu.Lock()
				stored[ev.ID] = ev
				mu.Unlock()
			}
			t.Error("the disk never got full")
		})
	}
	wg.Wait()
	require.NotEmpty(t, stored)
	check := func(j *Journal) {
		requireClean(t, j)
		for id, want := range stored {
			got, err := j.Get(id)
			require.NoError(t, err)
			require.Equal(t, want, got)
		}
		s, err := j.OutboxStats()
		require.NoError(t, err)
		require.Equal(t, len(stored), s.Waiting)
	}
	check(j)

	// With room again, it goes on, without a restart.
	require.NoError(t, os.Remove(ballast))
	ev := sample.Event("later", 0, time.Second)
	require.NoError(t, j.Put(ev, true))
	stored[ev.ID] = ev
	check(j)
	require.NoError(t, j.Close())
	check(open(t, path, Options{}))
}

// TestProbeOfAFullDisk: a disk without room for what comes next is full although the file has pages
// to write in, however often it is asked, and whatever is stored meanwhile; not so where those are
// many, as in a file that was pruned because it had filled the disk.
func TestProbeOfAFullDisk(t *testing.T) {
	for _, pruned := range []int{300, 6000} {
		dir := vfstest.TinyDiskHeld(t, 64<<20)
		j := open(t, filepath.Join(dir, "journal.db"), Options{})
		list := make([]vms.Event, pruned)
		for i := range list {
			at := time.Duration(i) * time.Minute
			list[i] = sample.Event("cam", at, at+time.Second)
			list[i].AccountID = strings.Repeat("x", 4000)
		}
		putMany(t, j, list)
		_, err := j.Prune(Retention{Before: sample.Epoch.Add(10000 * time.Hour)})
		require.NoError(t, err)
		requireClean(t, j)
		s, err := j.OutboxStats()
		require.NoError(t, err)
		require.Greater(t, s.Free, int64(1<<20), "there is nothing to write in")
		require.NoError(t, j.Probe())
		require.False(t, j.Doubtful())

		ballast := filepath.Join(dir, "ballast")
		require.ErrorIs(t, os.WriteFile(ballast, make([]byte, 64<<20), 0o600), syscall.ENOSPC)
		for i := range 5 {
			if pruned > 300 {
				require.NoError(t, j.Probe())
				require.NoError(t, j.Failing())
				continue
			}
			require.True(t, j.Doubtful())
			require.ErrorIs(t, j.Probe(), ErrFull)
			require.ErrorIs(t, j.Probe(), syscall.ENOSPC)
			at := time.Duration(i) * time.Hour
			require.NoError(t, j.Put(sample.Event("door", at, at), true))
			require.ErrorIs(t, j.Failing(), ErrFull)
		}
		require.NoError(t, os.Remove(ballast))
		require.NoError(t, j.Probe())
		require.NoError(t, j.Failing())
		require.False(t, j.Doubtful())
		require.NoError(t, j.Close())
	}
}

func TestMaxBytes(t *testing.T) {
	j := open(t, sample.Path(t), Options{MaxBytes: 6 << 20})
	big := make([]byte, 100<<10)
	for i := range big {
		big[i] = 'x'
	}
	var err error
	n := 0
	for ; err == nil && n < 1000; n++ {
		ev := sample.Event("cam", time.Duration(n)*time.Second, time.Duration(n)*time.Second)
		ev.AccountID = string(big)
		err = j.Put(ev, false)
	}
	require.ErrorIs(t, err, ErrFull)
	s, err := j.OutboxStats()
	require.NoError(t, err)
	require.LessOrEqual(t, s.Bytes, int64(6<<20))
	// Pruning makes room.
	pruned, err := j.Prune(Retention{Before: sample.Epoch.Add(time.Hour)})
	require.NoError(t, err)
	require.Equal(t, n-1, pruned)
	require.NoError(t, j.Put(sample.Event("cam", time.Hour, 2*time.Hour), true))
	requireClean(t, j)
}
