package journal

import (
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"vmsbridge/storage/journal/sample"
	"vmsbridge/storage/vfs/vfstest"
	"vmsbridge/uplink/vms"
)

// hollow opens a journal most of which is free: many events, nearly all pruned.
func hollow(t testing.TB, path string, events int) *Journal {
	t.Helper()
	j := open(t, path, Options{CompactAbove: 1 << 20})
	list := make([]vms.Event, events)
	for i := range list {
		list[i] = sample.Event(fmt.Sprint("cam", i%7), time.Duration(i)*time.Second, time.Duration(i+2)*time.Second)
	}
	putMany(t, j, list)
	for _, ev := range list[events-50:] {
		require.NoError(t, j.Put(ev, true))
	}
	require.NoError(t, j.SetMeta("boot", []byte("7")))
	_, err := j.Prune(Retention{Before: sample.Epoch.Add(time.Duration(events*9/10) * time.Second)})
	require.NoError(t, err)
	return j
}

func TestCompact(t *testing.T) {
	path := sample.Path(t)
	j := hollow(t, path, 2500)
	before, err := j.List(vms.Query{PageSize: 1000}, nil)
	require.NoError(t, err)
	entries, err := j.Peek(100)
	require.NoError(t, err)

	c, err := j.Compact(t.Context())
	require.NoError(t, err)
	t.Logf("%+v", c)
	require.Less(t, c.After, c.Before/3)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.LessOrEqual(t, info.Size(), c.After+4<<20+1<<16)
	require.NoFileExists(t, path+".compacting")
	requireClean(t, j)
	after, err := j.List(vms.Query{PageSize: 1000}, nil)
	require.NoError(t, err)
	require.Equal(t, before, after)
	again, err := j.Peek(100)
	require.NoError(t, err)
	require.Equal(t, entries, again)

	// It is not done again, and what comes now has a new revision.
	c, err = j.Compact(t.Context())
	require.NoError(t, err)
	require.Equal(t, c.Before, c.After)
	require.NoError(t, j.Put(entries[0].Event, true))
	require.NoError(t, ack(j, entries[0].Event.ID, entries[0].Revision))
	s, err := j.OutboxStats()
	require.NoError(t, err)
	require.Equal(t, 50, s.Waiting, "the old revision acknowledges nothing")
	_, err = Open(path, Options{LockTimeout: time.Millisecond})
	require.ErrorIs(t, err, ErrLocked)
	require.NoError(t, j.Close())
	j = open(t, path, Options{})
	require.Nil(t, j.Damage())
	v, err := j.Meta("boot")
	require.NoError(t, err)
	require.Equal(t, "7", string(v))
}

// TestCompactUnderLoad: what is changed in any way while the file is copied is as changed
// afterwards.
func TestCompactUnderLoad(t *testing.T) {
	path := sample.Path(t)
	j := hollow(t, path, 1500)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	var puts, longest atomic.Int64
	stored := make([]map[string]vms.Event, 4)
	for w := range stored {
		stored[w] = map[string]vms.Event{}
		wg.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				ev := sample.Event(fmt.Sprint("w", w), time.Duration(i%40)*time.Hour,
					time.Duration(i%40)*time.Hour+time.Duration(i)*time.Second)
				began := time.Now()
				if !assert.NoError(t, j.Put(ev, i%2 == 0)) {
					return
				}
				for d := int64(time.Since(began)); ; {
					old := longest.Load()
					if d <= old || longest.CompareAndSwap(old, d) {
						break
					}
				}
				puts.Add(1)
				stored[w][ev.ID] = ev
				if i%5 == 0 {
					entries, err := j.Peek(3)
					assert.NoError(t, err)
					for _, e := range entries {
						assert.NoError(t, ack(j, e.Event.ID, e.Revision))
					}
				}
			}
		})
	}
	for range 5 {
		at := puts.Load()
		s, err := j.OutboxStats()
		require.NoError(t, err)
		c, err := j.file.Compact(t.Context())
		require.NoError(t, err)
		require.Positive(t, c.Held)
		t.Logf("%d of %d bytes free: %+v, %d puts meanwhile", s.Free, s.Bytes, c, puts.Load()-at)
		for puts.Load() < at+50 {
			time.Sleep(time.Millisecond)
		}
	}
	close(stop)
	wg.Wait()
	check := func(j *Journal) {
		requireClean(t, j)
		for _, m := range stored {
			for id, want := range m {
				got, err := j.Get(id)
				require.NoError(t, err)
				require.Equal(t, want, got)
			}
		}
	}
	check(j)
	t.Logf("the longest put took %v", time.Duration(longest.Load()))
	require.NoError(t, sample.Crash(path, j.Close))
	j = open(t, path, Options{})
	require.Nil(t, j.Damage())
	check(j)
}

func TestCompactThatCannot(t *testing.T) {
	t.Run("is stopped", func(t *testing.T) {
		path := sample.Path(t)
		j := hollow(t, path, 1500)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := j.Compact(ctx)
		require.ErrorIs(t, err, context.Canceled)
		require.NoFileExists(t, path+".compacting")
		requireClean(t, j)
	})
	t.Run("has no room", func(t *testing.T) {
		dir := vfstest.TinyDiskHeld(t, 12<<20)
		j := hollow(t, dir+"/journal.db", 1500)
		_, err := j.Compact(t.Context())
		require.ErrorIs(t, err, ErrFull)
		require.NoFileExists(t, dir+"/journal.db"+".compacting")
		require.NoError(t, j.Put(sample.Event("cam", 0, time.Second), true))
	})
	t.Run("is closed meanwhile", func(t *testing.T) {
		j := hollow(t, sample.Path(t), 1500)
		require.NoError(t, j.Close())
		_, err := j.Compact(t.Context())
		require.ErrorIs(t, err, ErrClosed)
	})
}
