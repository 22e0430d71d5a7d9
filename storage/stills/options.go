package stills

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vmsbridge/storage/stills/segment"
	"vmsbridge/storage/vfs"
)

// Options of Open. The zero value of each field but MaxBytes works.
type Options struct {
	// MaxBytes is what the segments may take on disk together, at least 128 KiB.
	MaxBytes int64
	// SegmentBytes is the size of a segment; 0 means 16 MiB. The largest still is a little smaller.
	// If MaxBytes holds fewer than eight segments, they are made smaller: an eighth of MaxBytes,
	// but not less than 4 MiB, and in any case no more than half of MaxBytes.
	SegmentBytes int64
	// MaxAge is how long stills are kept: a segment goes when all of its stills were stored longer
	// ago. 0 means as long as there is room. After a start and after a step of the clock, nothing
	// is dropped for its age for an hour, so that a wrong clock costs nothing.
	MaxAge time.Duration
	// Cameras is how many cameras share the ring; if more store stills than that, they count. See
	// accounts.go.
	Cameras int
	// Endurance is how many bytes may be written to the device in its life, as its maker says
	// (TBW); 0 means 300 times the capacity of the file system.
	Endurance int64
	// FlushEvery is how often stills are flushed to the device, and so what a power cut costs; 0
	// means 2 s. Where less than 256 KiB wait, up to three times as long, but not above 10 s: every
	// flush fills up a page.
	FlushEvery time.Duration
	// MinFree is how much the ring leaves free on the file system for others (the journal): below
	// it, a new segment costs old ones, down to two. 0 means 32 MiB, negative means none.
	MinFree int64
	// Log receives what someone should know of: damage, trouble of the device. Nil logs nothing.
	Log *slog.Logger
	// Timed is told when a flush of segments begins, and by what it returns when that has ended.
	// Nil: it is told nothing.
	Timed func() (ended func())
	// OnDamage is called when stills or segments are found damaged: by Open before it returns, and
	// later at most once an hour from the ring's own goroutine, for what Find came upon. It must
	// not call the ring. Nil is told nothing.
	OnDamage func(Damage)
	// Registerer takes the metrics (vmsbridge_stills_…). Nil registers none. One ring a registerer.
	Registerer prometheus.Registerer
	// Clock is the time; nil means the machine's.
	Clock Clock
	// FS is the file system; nil means vfs.OS.
	FS vfs.FS
}

const (
	defaultSegment = 16 << 20
	smallSegment   = 4 << 20
	defaultMinFree = 32 << 20
	minSegments    = 2
)

// withDefaults fills in what is zero, and refuses what cannot be.
func (o Options) withDefaults() (Options, error) {
	if o.SegmentBytes == 0 {
		o.SegmentBytes = defaultSegment
	}
	switch {
	case o.MaxBytes < minSegments*segment.MinSegmentBytes:
		return o,
			fmt.Errorf("max_size of %d bytes is too small for a ring of stills: give at least %d, or better a few GiB",
				o.MaxBytes, minSegments*segment.MinSegmentBytes)
	case o.SegmentBytes < segment.MinSegmentBytes || o.SegmentBytes > segment.MaxSegmentBytes:
		return o, fmt.Errorf("segment_size of %d bytes: must be %d to %d", o.SegmentBytes, segment.MinSegmentBytes,
			segment.MaxSegmentBytes)
	}
	if eighth := max(o.MaxBytes/8, smallSegment); o.SegmentBytes > eighth {
		o.SegmentBytes = eighth
	}
	// Whole pages, so that the file takes no more than its size.
	o.SegmentBytes = max(min(o.SegmentBytes, o.MaxBytes/minSegments)&^4095, segment.MinSegmentBytes)
	if o.Timed == nil {
		o.Timed = func() func() { return func() {} }
	}
	if o.FlushEvery <= 0 {
		o.FlushEvery = 2 * time.Second
	}
	if o.MinFree == 0 {
		o.MinFree = defaultMinFree
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Clock == nil {
		o.Clock = systemClock()
	}
	if o.FS == nil {
		o.FS = vfs.OS
	}
	return o, nil
}
