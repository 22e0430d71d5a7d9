package archive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vmsbridge/agent/clock"
	"vmsbridge/agent/health"
	"vmsbridge/configs"
	"vmsbridge/storage/guard"
	"vmsbridge/storage/journal"
	"vmsbridge/storage/stills"
	"vmsbridge/storage/vfs"
	"vmsbridge/uplink/vms"
)

// Names below bridge.data.
const (
	JournalFile = "journal.db"
	StillsDir   = "stills"
)

// Options of Open. All must be set.
type Options struct {
	Config     func() *configs.Config // the one that runs now
	Clock      *clock.Clock
	Operations *health.Operations // is told of damage
	Timer      *health.WriteTimer // of durable writes
	Version    string             // of the program
	Log        *slog.Logger
	Registerer prometheus.Registerer
}

// Archive is what the bridge keeps on its disk. Its methods are safe for concurrent use.
type Archive struct {
	Journal *journal.Journal
	Ring    *stills.Ring
	Events  *EventWriter
	Stills  *StillWriter

	opts  Options
	clock *clock.Clock
	log   *slog.Logger
	watch *guard.Watch // of the data folder
	left  left

	opened time.Time
}

// Close flushes the stills before the journal closes: an event may name them.
func (s *Archive) Close() error { return errors.Join(s.Ring.Close(), s.Journal.Close()) }

// Write writes what the pipelines hand in until ctx is done, and then the rest, for a bounded
// time.
func (s *Archive) Write(ctx context.Context) error {
	var writers sync.WaitGroup
	defer writers.Wait()
	writers.Go(func() { _ = s.Stills.Run(ctx) })
	return s.Events.Run(ctx)
}

// Watch looks after the data folder until ctx is done.
func (s *Archive) Watch(ctx context.Context) error { return s.watch.Run(ctx) }

// Failing is why events cannot be stored now, nil if they can.
func (s *Archive) Failing() error {
	if err := s.watch.Gone(); err != nil {
		return err
	}
	return cmp.Or(s.Events.Failing(), s.Journal.Failing())
}

// Remedy says what a person does about an error of Failing. It names no path.
func Remedy(err error) string {
	if errors.Is(err, guard.ErrGone) {
		return "bridge.data, or a file in it, was moved away or deleted: put it back; the bridge ends otherwise"
	}
	return vfs.Remedy(err, "bridge.data")
}

// Report fills in what the stores say of themselves.
func (s *Archive) Report(r *health.Report) {
	ring := s.Ring.Stats()
	r.Stills = health.Stills{Stills: ring.Stills, Bytes: ring.Bytes, Most: int64(s.opts.Config().Stills.MaxSize),
		Oldest: ring.Oldest}
	if ring.DamagedRecords+ring.DamagedSegments > 0 {
		r.Stills.Damaged = stills.Damage{Stills: int(ring.DamagedRecords), Segments: int(ring.DamagedSegments)}.String()
	}
	if st, err := s.Journal.OutboxStats(); err == nil {
		r.Outbox = health.Outbox{Waiting: st.Waiting, Parked: st.Parked}
		if !st.Oldest.IsZero() {
			r.Outbox.Oldest = vms.Ptr(st.Oldest)
		}
		r.Journal.Events, r.Journal.Bytes = st.Events, st.Bytes
	}
	if d := s.Journal.Damage(); d != nil {
		r.Journal.Damaged = d.String()
	}
	if err := s.Failing(); err != nil {
		r.Journal.Failing, r.Journal.Remedy = err.Error(), Remedy(err)
	}
}

// writePatience is how long one event may take to become durable: a card that erases takes seconds.
const writePatience = 30 * time.Second

// Moves reads from the journal, which waits for whoever holds its lock, and looks for a write that
// hangs.
func (s *Archive) Moves(ctx context.Context) error {
	if began := s.Events.Writing(); !began.IsZero() && time.Since(began) > writePatience {
		return fmt.Errorf("an event has been on its way to the disk for %s", time.Since(began).Round(time.Second))
	}
	read := make(chan error, 1)
	go func() { _, err := s.Journal.OutboxStats(); read <- err }() // ends with the process where the disk hangs
	select {
	case <-read: // an error is an answer too: the outlet says what is wrong
		return nil
	case <-ctx.Done():
		return errors.New("it does not answer")
	}
}

// Picture is a camera's newest preview at or before a moment, as a JPEG. Safe for concurrent use.
func (s *Archive) Picture(camera string, at time.Time) ([]byte, error) {
	found, err := s.Ring.Find(camera, stills.Preview, stills.AtOrBefore, at)
	if err != nil {
		return nil, err
	}
	return found.JPEG, nil
}
