package archive

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"vmsbridge/configs"
	"vmsbridge/storage/guard"
	"vmsbridge/storage/journal"
	"vmsbridge/storage/stills"
)

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
	s.Events = NewEventWriter(EventOptions{To: own{s.Journal}, Report: cfg.Service.URL != "",
		Ongoing: cfg.Service.ReportOngoing,
		Clock:   o.Clock, Release: s.Ring.Release, Doubt: s.newDoubt().ask, Timed: o.Timer.Write, Log: o.Log,
		Registerer: o.Registerer})
	return s, nil
}

func (s *Archive) openFiles(cfg *configs.Config) (err error) {
	data, o := cfg.Bridge.Data, s.opts
	if err := os.MkdirAll(data, 0o700); err != nil {
		return fmt.Errorf("make the data folder: %w (name a folder that this user may write in bridge.data)", err)
	}
	c := cfg.Stills
	s.Ring, err = stills.Open(filepath.Join(data, StillsDir),
		stills.Options{MaxBytes: int64(c.MaxSize), SegmentBytes: int64(c.SegmentSize),
			FlushEvery: c.FlushInterval, MaxAge: c.MaxAge, MinFree: int64(c.MinFree),
			Endurance: int64(c.DeviceEndurance),
			Cameras:   len(cfg.Cameras), Log: o.Log, Registerer: o.Registerer, OnDamage: o.Operations.Stills,
			Timed: o.Timer.Write})
	if err != nil {
		return fmt.Errorf("open the stills: %w", err)
	}
	open := func() (err error) {
		s.Journal, err = journal.Open(filepath.Join(data, JournalFile),
			journal.Options{Log: o.Log, Registerer: o.Registerer,
				OnDamage: o.Operations.Journal, Now: o.Clock.Now})
		return err
	}
	// A damaged journal is written anew, which takes as much room again as it has, so one try may
	// not be enough.
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
