package stills

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

func registerMetrics(reg prometheus.Registerer, r *Ring) {
	f := promauto.With(reg)
	counter := func(name, help string, v *atomic.Uint64) {
		f.NewCounterFunc(prometheus.CounterOpts{Name: "vmsbridge_stills_" + name, Help: help},
			func() float64 { return float64(v.Load()) })
	}
	gauge := func(name, help string, v func(Stats) float64) {
		f.NewGaugeFunc(prometheus.GaugeOpts{Name: "vmsbridge_stills_" + name, Help: help},
			func() float64 { return v(r.Stats()) })
	}
	c := &r.stats
	counter("appended_total", "Stills stored.", &c.appended)
	counter("appended_bytes_total", "Bytes of stills stored.", &c.appendedBytes)
	counter("append_failures_total", "Stills that could not be stored.", &c.failed)
	counter("finds_total", "Questions for a still.", &c.finds)
	counter("dropped_segments_total", "Oldest segments dropped to make room.", &c.dropped)
	counter("damaged_records_total", "Damaged stills that were skipped.", &c.badRecords)
	counter("damaged_segments_total", "Segments of which nothing could be read.", &c.badSegments)
	counter("damaged_indexes_total", "Segment indexes rebuilt from the records.", &c.badIndexes)
	counter("read_errors_total", "Reads that the device refused.", &c.readErrors)
	counter("flushes_total", "Flushes to the device.", &c.flushes)
	counter("flush_errors_total", "Flushes that the device refused.", &c.flushErrors)
	gauge("stored_stills", "Stills in the ring.", func(s Stats) float64 { return float64(s.Stills) })
	gauge("size_bytes", "What the segments take on disk.", func(s Stats) float64 { return float64(s.Bytes) })
	counter("expired_segments_total", "Segments dropped because their stills were past max_age.", &c.expired)
	f.NewCounterFunc(prometheus.CounterOpts{Name: "vmsbridge_stills_written_bytes_total",
		Help: "Bytes written to the device for stills since the ring was made."}, func() float64 {
		_, up := r.clock()
		total, _ := r.wear.PerDay(up)
		return float64(total)
	})
	gauge("written_bytes_per_day", "Bytes written to the device for stills in the last day.",
		func(s Stats) float64 { return float64(s.WrittenPerDay) })
	gauge("device_lifetime_days", "How long a new device lasts at that rate; an estimate. 0: not known yet.",
		func(s Stats) float64 {
			return s.DeviceLifetime.Hours() / 24
		})
	gauge("loud_bytes", "What stills beyond their camera's day's share take, of size_bytes.",
		func(s Stats) float64 { return float64(s.LoudBytes) })
	gauge("oldest_timestamp_seconds", "Time of the oldest still.", func(s Stats) float64 {
		if s.Oldest.IsZero() {
			return 0
		}
		return float64(s.Oldest.UnixMilli()) / 1000
	})
}
