package stills

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// Stats is the state of the ring. Counts without "ever since" are of now; the rest counts since Open.
type Stats struct {
	Segments int
	Bytes    int64 // what the segments take on disk, preallocated space included
	Stills   int
	Series   int       // pairs of camera and kind that have stills
	Oldest   time.Time // of all stills; zero if there is none
	Newest   time.Time
	Gaps     int

	Appended, AppendedBytes uint64
	FailedAppends           uint64
	Finds                   uint64
	DroppedSegments         uint64
	DamagedRecords          uint64 // found at Open or by Find, and skipped
	DamagedSegments         uint64 // of which nothing can be read
	DamagedIndexes          uint64 // rebuilt from the records
	TornRecords             uint64 // at the end of the last segment, after a power cut
	ForeignFiles            uint64
	ReadErrors              uint64
	Flushes, FlushErrors    uint64
}

type counters struct {
	appended, appendedBytes, failed, finds, dropped, badRecords, badSegments, badIndexes, torn, foreign,
	readErrors, flushes, flushErrors atomic.Uint64
	first atomic.Uint64 // number of the first segment that Open found
}

// Stats walks the index, so it takes some milliseconds for millions of stills; call it for a page, not for a picture.
func (r *Ring) Stats() Stats {
	c := &r.stats
	s := Stats{
		Appended: c.appended.Load(), AppendedBytes: c.appendedBytes.Load(), FailedAppends: c.failed.Load(), Finds: c.finds.Load(),
		DroppedSegments: c.dropped.Load(), DamagedRecords: c.badRecords.Load(), DamagedSegments: c.badSegments.Load(),
		DamagedIndexes: c.badIndexes.Load(), TornRecords: c.torn.Load(), ForeignFiles: c.foreign.Load(),
		ReadErrors: c.readErrors.Load(), Flushes: c.flushes.Load(), FlushErrors: c.flushErrors.Load(),
	}
	r.appendMu.Lock()
	s.Segments, s.Bytes = len(r.segments), r.totalLocked()
	r.appendMu.Unlock()
	r.mu.RLock()
	defer r.mu.RUnlock()
	any := false
	var oldest, newest int64
	for _, ser := range r.series {
		lo, hi, ok := ser.bounds()
		if !ok {
			continue
		}
		s.Series++
		if !any {
			oldest, newest, any = lo, hi, true
		}
		oldest, newest = min(oldest, lo), max(newest, hi)
		for i := range ser.parts {
			s.Stills += int(ser.parts[i].hi - ser.parts[i].lo)
		}
		if ser.tail != nil {
			s.Stills += len(ser.tail.times)
		}
	}
	if any {
		s.Oldest, s.Newest = nanosTime(oldest), nanosTime(newest)
	}
	for _, list := range r.gaps {
		s.Gaps += len(list)
	}
	return s
}

func registerMetrics(reg prometheus.Registerer, r *Ring) {
	f := promauto.With(reg)
	counter := func(name, help string, v *atomic.Uint64) {
		f.NewCounterFunc(prometheus.CounterOpts{Name: "vmsbridge_stills_" + name, Help: help}, func() float64 { return float64(v.Load()) })
	}
	gauge := func(name, help string, v func(Stats) float64) {
		f.NewGaugeFunc(prometheus.GaugeOpts{Name: "vmsbridge_stills_" + name, Help: help}, func() float64 { return v(r.Stats()) })
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
	gauge("oldest_timestamp_seconds", "Time of the oldest still.", func(s Stats) float64 {
		if s.Oldest.IsZero() {
			return 0
		}
		return float64(s.Oldest.UnixMilli()) / 1000
	})
}
