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
	DroppedSegments         uint64 // for whatever reason
	ExpiredSegments         uint64 // of those, for MaxAge
	DamagedRecords          uint64 // found at Open or by Find, and skipped
	DamagedSegments         uint64 // of which nothing can be read
	DamagedIndexes          uint64 // rebuilt from the records
	TornRecords             uint64 // at the end of the last segment, after a power cut
	ForeignFiles            uint64
	ReadErrors              uint64
	Flushes, FlushErrors    uint64

	LoudBytes int64 // what segments of the loud lane take, of Bytes; see share.go
	// WrittenBytes is what the ring wrote to the device ever since it was made, in whole pages, without the file system's
	// own; a crash forgets what was written since a segment became full.
	WrittenBytes   int64
	WrittenPerDay  int64         // of the last day, or of the time since Open in proportion; 0 in the first minute
	Endurance      int64         // bytes that the device may be written with in its life; 0 if not known
	DeviceLifetime time.Duration // Endurance at WrittenPerDay, from new, without what others write; 0 if not known
}

type counters struct {
	appended, appendedBytes, failed, finds, dropped, badRecords, badSegments, badIndexes, torn, foreign,
	readErrors, flushes, flushErrors, expired atomic.Uint64
	first atomic.Uint64 // number of the first segment that Open found
}

// Stats walks the index, so it takes some milliseconds for millions of stills; call it for a page, not for a picture.
func (r *Ring) Stats() Stats {
	c := &r.stats
	s := Stats{
		Appended: c.appended.Load(), AppendedBytes: c.appendedBytes.Load(), FailedAppends: c.failed.Load(), Finds: c.finds.Load(),
		DroppedSegments: c.dropped.Load(), ExpiredSegments: c.expired.Load(), DamagedRecords: c.badRecords.Load(), DamagedSegments: c.badSegments.Load(),
		DamagedIndexes: c.badIndexes.Load(), TornRecords: c.torn.Load(), ForeignFiles: c.foreign.Load(),
		ReadErrors: c.readErrors.Load(), Flushes: c.flushes.Load(), FlushErrors: c.flushErrors.Load(),
	}
	r.appendMu.Lock()
	s.Segments, s.Bytes = len(r.segments), r.totalLocked()
	for _, seg := range r.segments {
		if seg.lane == loud {
			s.LoudBytes += seg.size
		}
	}
	r.appendMu.Unlock()
	_, up := r.clock()
	s.WrittenBytes, s.WrittenPerDay = r.wear.perDay(up)
	s.Endurance = r.opts.Endurance
	if s.Endurance == 0 {
		if capacity, err := r.fs.Capacity(r.dir); err == nil {
			s.Endurance = cycles * capacity
		}
	}
	s.DeviceLifetime = life(s.Endurance, s.WrittenPerDay)
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
			s.Stills += ser.parts[i].len()
		}
		for _, tail := range ser.tails {
			if tail.entries != nil {
				s.Stills += len(tail.list)
			}
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
	counter("expired_segments_total", "Segments dropped because their stills were past max_age.", &c.expired)
	f.NewCounterFunc(prometheus.CounterOpts{Name: "vmsbridge_stills_written_bytes_total", Help: "Bytes written to the device for stills since the ring was made."}, func() float64 {
		_, up := r.clock()
		total, _ := r.wear.perDay(up)
		return float64(total)
	})
	gauge("written_bytes_per_day", "Bytes written to the device for stills in the last day.", func(s Stats) float64 { return float64(s.WrittenPerDay) })
	gauge("device_lifetime_days", "How long a new device lasts at that rate; an estimate. 0: not known yet.", func(s Stats) float64 { return s.DeviceLifetime.Hours() / 24 })
	gauge("loud_bytes", "What stills beyond their camera's day's share take, of size_bytes.", func(s Stats) float64 { return float64(s.LoudBytes) })
	gauge("oldest_timestamp_seconds", "Time of the oldest still.", func(s Stats) float64 {
		if s.Oldest.IsZero() {
			return 0
		}
		return float64(s.Oldest.UnixMilli()) / 1000
	})
}
