package archive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
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

// Open opens journal and ring below bridge.data, and the clock over both.
func Open(o Options) (*Archive, error) {
	s := &Archive{opts: o, clock: o.Clock, log: o.Log, opened: time.Now()}
	if err := s.openFiles(o.Config()); err != nil {
		return nil, err
	}
	if err := s.clock.Open(s.Journal, eras{s}); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	cfg := o.Config()
	s.Stills = NewStillWriter(s.Ring, o.Clock, o.Log)
	s.Events = NewEventWriter(EventOptions{To: own{s.Journal}, Report: cfg.Service.URL != "", Ongoing: cfg.Service.ReportOngoing,
		Clock: o.Clock, Release: s.Ring.Release, Doubt: s.newDoubt().ask, Timed: o.Timer.Write, Log: o.Log, Registerer: o.Registerer})
	return s, nil
}

func (s *Archive) openFiles(cfg *configs.Config) (err error) {
	data, o := cfg.Bridge.Data, s.opts
	if err := os.MkdirAll(data, 0o700); err != nil {
		return fmt.Errorf("make the data folder: %w (name a folder that this user may write in bridge.data)", err)
	}
	c := cfg.Stills
	s.Ring, err = stills.Open(filepath.Join(data, StillsDir), stills.Options{MaxBytes: int64(c.MaxSize), SegmentBytes: int64(c.SegmentSize),
		FlushEvery: c.FlushInterval, MaxAge: c.MaxAge, MinFree: int64(c.MinFree), Endurance: int64(c.DeviceEndurance),
		Cameras: len(cfg.Cameras), Log: o.Log, Registerer: o.Registerer, OnDamage: o.Operations.Stills, Timed: o.Timer.Write})
	if err != nil {
		return fmt.Errorf("open the stills: %w", err)
	}
	open := func() (err error) {
		s.Journal, err = journal.Open(filepath.Join(data, JournalFile), journal.Options{Log: o.Log, Registerer: o.Registerer,
			OnDamage: o.Operations.Journal, Now: o.Clock.Now})
		return err
	}
	// A damaged journal is written anew, which takes as much room again as it has, so one try may not be enough.
	for room := int64(RoomBytes); ; room *= 2 {
		if err = open(); !errors.Is(err, journal.ErrFull) {
			break
		}
		if freed, _ := s.Ring.Release(room); freed == 0 {
			break
		}
	}
	if err != nil {
		return errors.Join(fmt.Errorf("open the journal: %w", err), s.Ring.Close())
	}
	s.watch, err = guard.NewWatch(o.Log, []string{data, filepath.Join(data, StillsDir)}, s.Journal.Failing)
	if err != nil {
		return errors.Join(err, s.Close())
	}
	return nil
}

// Close flushes the stills before the journal closes: an event may name them.
func (s *Archive) Close() error { return errors.Join(s.Ring.Close(), s.Journal.Close()) }

// Write writes what the pipelines hand in until ctx is done, and then what is left, for a bounded time.
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
	r.Stills = health.Stills{Stills: ring.Stills, Bytes: ring.Bytes, Most: int64(s.opts.Config().Stills.MaxSize), Oldest: ring.Oldest}
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
