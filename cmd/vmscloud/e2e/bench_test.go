package e2e

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/journal"
	"vmsbridge/uplink/client"
	"vmsbridge/uplink/delivery"
	"vmsbridge/uplink/vms"
)

// scripts/bench uplink
//
// Both journals are real, on the same disk, and vmscloud is a process of its own.
func BenchmarkDrain(b *testing.B) {
	for _, c := range []struct{ cameras, events int }{{1, 20_000}, {8, 20_000}, {64, 20_000}} {
		b.Run(fmt.Sprintf("cameras=%d", c.cameras), func(b *testing.B) { drain(b, c.cameras, c.events) })
	}
}

// drain reports the rate, and the memory above that of the idle bridge: the process's own pages,
// not those of the mapped file.
func drain(b *testing.B, cameras, events int) {
	var took time.Duration
	var above int64
	for b.Loop() {
		b.StopTimer()
		s := startCloud(b)
		br := newBridge(b, cameras, client.Options{BaseURL: s.url, Token: client.Token(s.token)}, delivery.Options{})
		br.fill(b, events/cameras)
		require.NoError(b, br.register(b.Context()))
		debug.FreeOSMemory() // what filling took
		idle, _ := memory(b, os.Getpid())
		b.StartTimer()
		began := time.Now()
		stop := br.run(b)
		for br.waiting(b) > 0 {
			own, _ := memory(b, os.Getpid())
			above = max(above, own-idle)
			time.Sleep(20 * time.Millisecond)
		}
		took += time.Since(began)
		b.StopTimer()
		stop()
		require.NoError(b, br.journal.Close())
		_ = s.cmd.Process.Kill()
		b.StartTimer()
	}
	b.ReportMetric(float64(events/cameras*cameras*b.N)/took.Seconds(), "events/s")
	b.ReportMetric(took.Seconds()/float64(b.N), "s/backlog")
	b.ReportMetric(float64(above)/(1<<20), "MiB-above-idle")
	b.ReportMetric(0, "ns/op")
}

// timed notes when each event was accepted.
type timed struct {
	*client.Client
	accepted chan time.Time
}

func (c timed) Report(ctx context.Context, ev vms.Event) error {
	err := c.Client.Report(ctx, ev)
	if err == nil {
		c.accepted <- time.Now()
	}
	return err
}

// BenchmarkAccept is the time from handing an event to the journal until the service has accepted
// it.
func BenchmarkAccept(b *testing.B) {
	s := startCloud(b)
	j, err := journal.Open(b.TempDir()+"/journal.db", journal.Options{})
	require.NoError(b, err)
	b.Cleanup(func() { _ = j.Close() })
	c, err := client.New(client.Options{BaseURL: s.url, Token: client.Token(s.token)})
	require.NoError(b, err)
	accepted := make(chan time.Time, 1)
	br := &bridge{journal: j, client: c, cameras: 1, reporter: engine(j, timed{c, accepted}, nil, delivery.Options{})}
	require.NoError(b, br.register(b.Context()))
	stop := br.run(b)
	defer stop()
	var all []time.Duration
	for n := 0; b.Loop(); n++ {
		time.Sleep(5 * time.Millisecond) // idle again
		began := time.Now()
		require.NoError(b, j.Put(motion(0, n), true))
		all = append(all, (<-accepted).Sub(began))
	}
	slices.Sort(all)
	b.ReportMetric(float64(all[len(all)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(all[len(all)*99/100].Microseconds())/1000, "p99-ms")
	b.ReportMetric(0, "ns/op")
}
