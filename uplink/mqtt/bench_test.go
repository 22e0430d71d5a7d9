package mqtt

import (
	"testing"
	"time"

	"vmsbridge/uplink/vms"
)

// BenchmarkBacklog hands a backlog of events over to mosquitto on this machine:
//
//	go test -run '^$' -bench Backlog -benchtime 5000x ./uplink/mqtt
func BenchmarkBacklog(b *testing.B) {
	br := startBroker(b)
	s := newSite(b, br.url(), nil)
	s.up()
	s.stop()
	list := make([]vms.Event, 0, b.N)
	for i := range b.N {
		list = append(list, s.event("gate", vms.TypeMotion, time.Duration(i)*10*time.Second, time.Second))
	}
	if err := s.journal.PutAll(list, false); err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	s.start()
	for s.home.Status().Sent < uint64(b.N) {
		time.Sleep(time.Millisecond)
	}
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
}
