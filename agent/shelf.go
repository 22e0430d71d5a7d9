package agent

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"vmsbridge/agent/clock"
	"vmsbridge/storage/stills"
)

// shelf is the ring of stills for the pipelines, whose times are of the clock's scale. Safe for concurrent use.
type shelf struct {
	ring  *stills.Ring
	clock *clock.Clock
	log   *slog.Logger

	mu   sync.Mutex // guards gaps
	gaps []stills.Gap
}

// maxGaps bounds the gaps that wait: one a camera comes, when the bridge starts.
const maxGaps = 1000

// Append stores a still under its true time.
func (s *shelf) Append(still stills.Still) error {
	return s.clock.Stamp(func(at func(time.Time) time.Time, _ uint32) error {
		still.Time = at(still.Time)
		return s.ring.Append(still)
	})
}

// Find looks for a still. t and the answer's time are of the scale.
func (s *shelf) Find(camera string, k stills.Kind, op stills.Op, t time.Time) (stills.Still, error) {
	still, err := s.ring.Find(camera, k, op, s.clock.True(t))
	if err == nil {
		still.Time = s.clock.Back(still.Time)
	}
	return still, err
}

// Gap notes a gap. One that began before the clock's era, when the bridge ran last, has two ends that do not fit together: it waits
// until the era is settled.
func (s *shelf) Gap(camera string, from, to time.Time, reason string) error {
	held := false
	err := s.clock.Stamp(func(at func(time.Time) time.Time, era uint32) error {
		if begun, _, ok := s.ring.EraExtent(era); era != 0 && (!ok || from.Before(begun)) {
			held = true
			return nil
		}
		from := at(from)
		if end := at(to); !end.Before(from) {
			return s.ring.Gap(camera, from, end, reason)
		}
		return nil
	})
	if held {
		s.mu.Lock()
		if len(s.gaps) < maxGaps {
			s.gaps = append(s.gaps, stills.Gap{Camera: camera, To: to, Reason: reason})
		}
		s.mu.Unlock()
	}
	return err
}

// Run notes, when the clock is true, what had to wait: each gap from the newest still before it.
func (s *shelf) Run(ctx context.Context) error {
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
