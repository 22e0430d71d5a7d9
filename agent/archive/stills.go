package archive

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"vmsbridge/agent/clock"
	"vmsbridge/storage/stills"
	"vmsbridge/storage/vfs"
)

// StillWriter is the ring of stills for the pipelines, whose times are of the clock's scale. What
// they hand in is written by one goroutine, Run's: a disk that stalls holds up no camera. Safe for
// concurrent use.
type StillWriter struct {
	ring  *stills.Ring
	clock *clock.Clock
	log   *slog.Logger

	mu      sync.Mutex // guards all below but wake
	gaps    []stills.Gap
	waiting []entry // the first of them is being written
	bytes   int     // of their stills
	late    bool    // the one being written takes longer than stillPatience, or was refused: nobody waits

	wake chan struct{} // buffered 1
}

// NewStillWriter makes a writer of a ring.
func NewStillWriter(ring *stills.Ring, c *clock.Clock, log *slog.Logger) *StillWriter {
	return &StillWriter{ring: ring, clock: c, log: log, wake: make(chan struct{}, 1)}
}

// entry is a still or a gap on its way to the ring.
type entry struct {
	still stills.Still
	gap   *stills.Gap
	done  chan error // buffered 1
}

const (
	// maxGaps bounds the gaps that wait: one a camera comes, when the bridge starts.
	maxGaps = 1000
	// stillPatience is how long a camera waits for its still to be written. A healthy disk takes a
	// millisecond, and whoever hears of an event then finds its image; a card that erases takes
	// seconds.
	stillPatience = 100 * time.Millisecond
	// waitingBytes and waitingRecords bound what waits for a disk: some ten seconds of eight
	// cameras in motion.
	waitingBytes, waitingRecords = 32 << 20, 4096
	// stillDrain bounds the writing of waiting stills when the agent stops.
	stillDrain = 1500 * time.Millisecond
	// stillAgain is how long a disk that refused a still is left alone.
	stillAgain = 500 * time.Millisecond
)

var errDiskStalls = errors.New("the disk that holds bridge.data has stood still for too long, and no more stills can " +
	"wait for it")

// Append stores a still under its true time, or leaves it to be stored when the disk takes its
// time. The still's bytes are the writer's from then on.
func (s *StillWriter) Append(still stills.Still) error {
	done := make(chan error, 1)
	s.mu.Lock()
	if s.bytes+len(still.JPEG) > waitingBytes || len(s.waiting) >= waitingRecords {
		s.mu.Unlock()
		return errDiskStalls
	}
	s.waiting = append(s.waiting, entry{still: still, done: done})
	s.bytes += len(still.JPEG)
	late := s.late
	s.mu.Unlock()
	s.signal()
	if late {
		return nil
	}
	patience := time.NewTimer(stillPatience)
	defer patience.Stop()
	select {
	case err := <-done:
		return err
	case <-patience.C:
		s.mu.Lock()
		s.late = len(s.waiting) > 0
		s.mu.Unlock()
		return nil
	}
}

// Find looks for a still. t and the answer's time are of the scale.
func (s *StillWriter) Find(camera string, k stills.Kind, op stills.Op, t time.Time) (stills.Still, error) {
	still, err := s.ring.Find(camera, k, op, s.clock.True(t))
	if err == nil {
		still.Time = s.clock.Back(still.Time)
	}
	return still, err
}

// Gap leaves a gap to be noted. It never waits.
func (s *StillWriter) Gap(camera string, from, to time.Time, reason string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waiting) >= waitingRecords {
		return errDiskStalls
	}
	s.waiting = append(s.waiting, entry{gap: &stills.Gap{Camera: camera, From: from, To: to, Reason: reason},
		done: make(chan error, 1)})
	s.signal()
	return nil
}

func (s *StillWriter) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Run writes until ctx is done, and then the rest, for a bounded time.
func (s *StillWriter) Run(ctx context.Context) error {
	for {
		s.write(ctx)
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), stillDrain)
			defer cancel()
			s.write(last)
			return ctx.Err()
		case <-s.wake:
		}
	}
}

// write hands what waits to the ring, in order, until ctx is done. What a failing disk refuses
// stays in front, and is tried again.
func (s *StillWriter) write(ctx context.Context) {
	var refused error
	for ctx.Err() == nil {
		s.mu.Lock()
		if len(s.waiting) == 0 {
			s.late = false
			s.mu.Unlock()
			return
		}
		r := s.waiting[0]
		s.mu.Unlock()
		err := s.store(r)
		if mayPass(err) {
			if refused == nil {
				s.log.Warn("stills cannot be stored; they wait in memory, within bounds", "error", err,
					"remedy", vfs.Remedy(err, "bridge.data"))
			}
			refused = err
			s.mu.Lock()
			s.late = true
			s.mu.Unlock()
			select {
			case <-ctx.Done():
			case <-time.After(stillAgain):
			}
			continue
		}
		if refused != nil && err == nil {
			s.log.Info("stills are stored again")
			refused = nil
		}
		s.mu.Lock()
		s.waiting[0] = entry{}
		s.waiting = s.waiting[1:]
		s.bytes -= len(r.still.JPEG)
		late := s.late
		s.mu.Unlock()
		if r.done <- err; err != nil && late {
			s.log.Debug("store a still or a gap, late", "error", err) // the ring counts it
		}
	}
}

// mayPass reports whether an error of the ring is the disk's, and not the record's.
func mayPass(err error) bool {
	return err != nil && !errors.Is(err, stills.ErrInvalid) && !errors.Is(err, stills.ErrClosed)
}

// store writes a record under its true times.
func (s *StillWriter) store(r entry) error {
	at, era := s.clock.Stamp()
	if r.gap != nil {
		return s.noteGap(r.gap, at, era)
	}
	r.still.Time = at(r.still.Time)
	return s.ring.AppendOf(era, r.still)
}

// noteGap notes a gap. One that began before the clock's era, when the bridge ran last, has two
// ends that do not fit together: it waits until the era is settled.
func (s *StillWriter) noteGap(g *stills.Gap, at func(time.Time) time.Time, era uint32) error {
	if begun, _, ok := s.ring.EraExtent(era); era != 0 && (!ok || g.From.Before(begun)) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.gaps) < maxGaps {
			s.gaps = append(s.gaps, stills.Gap{Camera: g.Camera, To: g.To, Reason: g.Reason})
		}
		return nil
	}
	from, end := at(g.From), at(g.To)
	if end.Before(from) {
		return nil
	}
	return s.ring.GapOf(era, g.Camera, from, end, g.Reason)
}

// NoteHeld notes, when the clock is true, the gaps that had to wait: each from the newest still
// before it.
func (s *StillWriter) NoteHeld(ctx context.Context) error {
	if err := s.clock.Wait(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	gaps := s.gaps
	s.gaps = nil
	s.mu.Unlock()
	for _, g := range gaps {
		to := s.clock.True(g.To)
		last, err := s.ring.Find(g.Camera, stills.Preview, stills.Before, to)
		if err == nil {
			err = s.ring.Gap(g.Camera, last.Time, to, g.Reason)
		}
		if none := (*stills.NoneError)(nil); err != nil && !errors.As(err, &none) {
			s.log.Debug("note a gap", "camera", g.Camera, "error", err)
		}
	}
	return nil
}
