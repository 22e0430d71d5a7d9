package webhook

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"vmsbridge/uplink/vms"
)

// BenchmarkBacklog hands a backlog of events over to a hook that takes a time to answer:
//
//	go test -run '^$' -bench Backlog -benchtime 2000x ./uplink/webhook
func BenchmarkBacklog(b *testing.B) {
	for _, actors := range []int{1, 8} {
		for _, takes := range []time.Duration{0, 20 * time.Millisecond} {
			b.Run(fmt.Sprintf("actors=%d/answer=%s", actors, takes), func(b *testing.B) {
				server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
					_, _ = io.Copy(io.Discard, r.Body)
					time.Sleep(takes)
				}))
				defer server.Close()
				s := newSite(b, "hook")
				for i := range b.N {
					s.put(fmt.Sprint("cam", i%actors), vms.TypeMotion, i, time.Second)
				}
				b.ResetTimer()
				h, stop := s.run(0, server.URL, nil)
				for h.Status().Sent < uint64(b.N) {
					time.Sleep(time.Millisecond)
				}
				b.StopTimer()
				stop()
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
			})
		}
	}
}
