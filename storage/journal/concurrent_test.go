package journal

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/journal/sample"
	"vmsbridge/uplink/vms"
)

// TestConcurrent has every method at work at once; under the race detector. In the end everything
// that was put was acknowledged once, in order within its actor.
func TestConcurrent(t *testing.T) {
	j := open(t, sample.Path(t), Options{})
	const writers, each = 8, 12
	var seen atomic.Int64
	cancel := j.Subscribe(func(vms.Event) { seen.Add(1) })
	defer cancel()
	stop := make(chan struct{})
	var readers, wg sync.WaitGroup
	for _, f := range []func() error{
		func() error { _, err := j.List(vms.Query{PageSize: 5}, nil); return err },
		func() error { _, err := j.Unfinished(); return err },
		func() error { _, err := j.Prune(Retention{Before: sample.Epoch.Add(-time.Hour)}); return err },
		func() error { _, err := j.OutboxStats(); return err },
		func() error { _, err := j.Check(); return err },
		func() error { return j.SetMeta("k", []byte(time.Now().String())) },
	} {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if err := f(); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	acked := map[string][]string{}
	readers.Go(func() {
		for n := 0; n < writers*each; {
			entries, err := j.Peek(7)
			if err != nil {
				t.Error(err)
				return
			}
			if len(entries) == 0 {
				<-j.Changed()
				continue
			}
			for _, e := range entries {
				if err := ack(j, e.Event.ID, e.Revision); err != nil {
					t.Error(err)
					return
				}
				acked[e.Event.ActorID] = append(acked[e.Event.ActorID], e.Event.ID)
				n++
			}
		}
	})
	want := map[string][]string{}
	for w := range writers {
		actor := fmt.Sprint("cam", w)
		for i := range each {
			want[actor] = append(want[actor], sample.Event(actor, time.Duration(i)*time.Second, sample.GoesOn).ID)
		}
		wg.Go(func() {
			for i := range each {
				ev := sample.Event(actor, time.Duration(i)*time.Second, sample.GoesOn)
				if err := j.Put(ev, true); err != nil {
					t.Error(err)
					return
				}
				if err := touch(j, ev.ID, sample.Epoch.Add(time.Duration(i+1)*time.Second)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	close(stop)
	readers.Wait()
	require.Equal(t, want, acked)
	require.EqualValues(t, writers*each, seen.Load())
	s, err := j.OutboxStats()
	require.NoError(t, err)
	require.Zero(t, s.Waiting)
	requireClean(t, j)
}
