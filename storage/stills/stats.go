package stills

import (
	"sync/atomic"
	"time"

	"vmsbridge/storage/stills/segment"
)

// Stats is the state of the ring. Counts without "ever since" are of now; the rest counts since
// Open.
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

	LoudBytes int64 // what segments of the loud lane take, of Bytes; see accounts.go
	// WrittenBytes is what the ring wrote to the device ever since it was made, in whole pages,
	// without the file system's own; a crash forgets what was written since a segment became full.
	WrittenBytes   int64
	WrittenPerDay  int64         // of the last day, or of the time since Open in proportion; 0 in the first minute
	Endurance      int64         // bytes that the device may be written with in its life; 0 if not known
	DeviceLifetime time.Duration // Endurance at WrittenPerDay, from new, without what others write; 0 if not known
}

type counters struct {
	appended, appendedBytes, failed, finds, dropped, badRecords, badSegments, badIndexes, torn, foreign,
	readErrors, flushes, flushErrors, expired atomic.Uint64
}

// summed keeps the sums, after a segment came or went. appendMu is held.
func (r *Ring) summed() {
	var loud int64
	for _, m := range r.segments {
		if m.Lane == segment.Loud {
			loud += m.Size
		}
	}
	r.sizes.segments.Store(int64(len(r.segments)))
	r.sizes.bytes.Store(r.totalLocked())
	r.sizes.loud.Store(loud)
}

// Stats waits for no device. It walks the index, so it takes some milliseconds for millions of
// stills; call it for a page, not for a picture.
func (r *Ring) Stats() Stats {
	c := &r.stats
	s := Stats{
		Appended: c.appended.Load(), AppendedBytes: c.appendedBytes.Load(), FailedAppends: c.failed.Load(),
		Finds:           c.finds.Load(),
		DroppedSegments: c.dropped.Load(), ExpiredSegments: c.expired.Load(), DamagedRecords: c.badRecords.Load(),
		DamagedSegments: c.badSegments.Load(),
		DamagedIndexes:  c.badIndexes.Load(), TornRecords: c.torn.Load(), ForeignFiles: c.foreign.Load(),
		ReadErrors: c.readErrors.Load(), Flushes: c.flushes.Load(), FlushErrors: c.flushErrors.Load(),
	}
	s.Segments, s.Bytes, s.LoudBytes = int(r.sizes.segments.Load()), r.sizes.bytes.Load(), r.sizes.loud.Load()
	_, up := r.clock()
	s.WrittenBytes, s.WrittenPerDay = r.wear.PerDay(up)
	s.Endurance = r.opts.Endurance
	if s.Endurance == 0 {
		if capacity, err := r.fs.Capacity(r.dir); err == nil {
			s.Endurance = wearCycles * capacity
		}
	}
	s.DeviceLifetime = lifetime(s.Endurance, s.WrittenPerDay)
	r.index.Count(&s)
	return s
}
