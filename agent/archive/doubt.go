package archive

import (
	"time"

	"vmsbridge/agent/health"
	"vmsbridge/storage/stills"
)

// trustFor is how long the disk is believed to take events while nothing is written: a probe costs
// a card 16 KiB.
const trustFor = 5 * time.Minute

// doubt says when it is to be tried whether events can be stored, so that the bridge says that they
// cannot before one comes. Of the goroutine of EventWriter.
type doubt struct {
	journal interface {
		Probe() error
		Doubtful() bool
	}
	space func() health.Space
	ring  func() stills.Stats

	tried  time.Time
	errors uint64 // of the ring, at the last look
}

func (s *Archive) newDoubt() *doubt {
	space := func() health.Space {
		cfg := s.opts.Config()
		return health.DiskOf(cfg.Bridge.Data, int64(cfg.Stills.MinFree))
	}
	return &doubt{journal: s.Journal, ring: s.Ring.Stats, tried: time.Now(), space: space}
}

// ask tries it if there is a reason: the last change was refused, stills are, the disk is full or
// read-only, or nothing was tried for long.
func (d *doubt) ask() error {
	ring := d.ring()
	refused := ring.FailedAppends + ring.FlushErrors
	reason := d.journal.Doubtful() || d.space().ReadOnly || refused != d.errors
	d.errors = refused
	if !reason && time.Since(d.tried) < trustFor {
		return nil
	}
	d.tried = time.Now()
	return d.journal.Probe()
}
