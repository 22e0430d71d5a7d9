package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/scripts/harness"
	"vmsbridge/storage/journal"
	"vmsbridge/uplink/client"
	"vmsbridge/uplink/vms"
)

// millionCameras is how many cameras the events of BenchmarkMillion are of.
const millionCameras = 16

// BenchmarkMillion is the end of an outage of weeks: vmsbridge as it is shipped starts with a
// backlog of UPLINK_MILLION events while the service is away, and drains it once the service is
// back. It reports
//
//   - the events drained a second, by the time from the first acceptance to the last, and the
//     processor time that each of them takes at either end, which a busy machine changes less,
//   - the memory above that of the same bridge while it waits, its own and that of mapped files
//     (the journal's pages, which the system can take back at any time),
//   - how long after it happened a fresh event was known at the service: the first one, which
//     happens as the service comes back, and those of every other second until the backlog is gone.
//
// It takes minutes and some 5 GB of disk for a million: scripts/bench uplink -million.
func BenchmarkMillion(b *testing.B) {
	events, err := strconv.Atoi(os.Getenv("UPLINK_MILLION"))
	if err != nil {
		b.Skip("it takes minutes: UPLINK_MILLION=1000000")
	}
	for b.Loop() {
		million(b, events)
	}
	b.ReportMetric(0, "ns/op")
}

func million(b *testing.B, events int) {
	s := newCloud(b)
	port := harness.Port(b)
	s.url = fmt.Sprintf("http://127.0.0.1:%d", port)
	var cameras strings.Builder
	for i := range millionCameras {
		fmt.Fprintf(&cameras, "  - {id: %s, url: \"rtsp://127.0.0.1:1/none\", enabled: false}\n", camera(i))
	}
	br := newSite(b, s, cameras.String())
	each := events / millionCameras
	fillJournal(b, filepath.Join(br.dir, "data", "journal.db"), each)
	p := br.start(b)
	idle, idleMapped := settled(b, p.cmd.Process.Pid)

	s.serve(b, fmt.Sprintf("127.0.0.1:%d", port))
	direct, err := client.New(client.Options{BaseURL: s.url, Token: client.Token(s.token)})
	require.NoError(b, err)
	defer direct.Close()
	var own, mapped int64
	var began time.Time
	spentHere, spentThere := processorTime(b, p.cmd.Process.Pid), processorTime(b, s.cmd.Process.Pid)
	fresh := make(chan time.Duration)
	var took []time.Duration
	asking, next := 0, time.Now()
	for left := events; left > 0 || asking > 0; left = int(br.metric(b, "vmsbridge_journal_outbox_events")) {
		if began.IsZero() && left < events {
			began = time.Now()
		}
		if asking == 0 && left > 1000 && time.Now().After(next) {
			asking, next = 1, time.Now().Add(2*time.Second)
			ev := motion(len(took)%millionCameras, 2*each+len(took))
			go func() { fresh <- known(b, br, direct, ev) }()
		}
		select {
		case d := <-fresh:
			asking = 0
			took = append(took, d)
		case <-time.After(100 * time.Millisecond):
		}
		o, m := memory(b, p.cmd.Process.Pid)
		own, mapped = max(own, o-idle), max(mapped, m-idleMapped)
	}
	drained := time.Since(began)
	spentHere, spentThere = processorTime(b, p.cmd.Process.Pid)-spentHere,
		processorTime(b, s.cmd.Process.Pid)-spentThere
	b.ReportMetric(float64(events)/drained.Seconds(), "events/s")
	b.ReportMetric(drained.Seconds(), "s/backlog")
	b.ReportMetric(float64(spentHere.Microseconds())/float64(events), "cpu-us/event-bridge")
	b.ReportMetric(float64(spentThere.Microseconds())/float64(events), "cpu-us/event-service")
	b.ReportMetric(float64(idle)/(1<<20), "MiB-idle")
	b.ReportMetric(float64(own)/(1<<20), "MiB-above-idle")
	b.ReportMetric(float64(mapped)/(1<<20), "MiB-mapped-above-idle")
	b.ReportMetric(float64(took[0].Milliseconds()), "ms-first-fresh")
	later := slices.Sorted(slices.Values(took[1:]))
	b.ReportMetric(float64(later[len(later)/2].Milliseconds()), "p50-ms-fresh")
	b.ReportMetric(float64(later[len(later)-1].Milliseconds()), "max-ms-fresh")
}

// fillJournal makes a journal with so many events of each camera that wait to be reported, the
// cameras in turn.
func fillJournal(b *testing.B, path string, each int) {
	j, err := journal.Open(path, journal.Options{})
	require.NoError(b, err)
	filling := &bridge{journal: j, cameras: millionCameras}
	filling.fill(b, each)
	require.NoError(b, j.Close())
}

// settled is a process's memory once it no longer falls.
func settled(b *testing.B, pid int) (own, mapped int64) {
	own, mapped = memory(b, pid)
	for falls := time.Now(); time.Since(falls) < 3*time.Second; time.Sleep(100 * time.Millisecond) {
		o, m := memory(b, pid)
		if o < own {
			own, falls = o, time.Now()
		}
		mapped = m
	}
	return own, mapped
}

// known reports an event to the bridge and says how long it took until the service knew it.
func known(b *testing.B, br site, direct *client.Client, ev vms.Event) time.Duration {
	at := time.Now()
	body := ev
	body.ID = ""
	br.post(b, body)
	for {
		if _, err := direct.Event(b.Context(), ev.ID); err == nil {
			return time.Since(at)
		}
		time.Sleep(10 * time.Millisecond)
	}
}
