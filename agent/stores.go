package agent

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"vmsbridge/agent/outlet"
	"vmsbridge/storage/guard"
	"vmsbridge/storage/journal"
	"vmsbridge/storage/stills"
)

// openStores opens the journal and the ring below bridge.data.
func (a *Agent) openStores() (err error) {
	data := a.cfg().Bridge.Data
	if err := os.MkdirAll(data, 0o700); err != nil {
		return fmt.Errorf("make the data folder: %w (name a folder that this user may write in bridge.data)", err)
	}
	a.clock = a.newClock()
	s := a.cfg().Stills
	a.ring, err = stills.Open(filepath.Join(data, StillsDir), stills.Options{MaxBytes: int64(s.MaxSize), SegmentBytes: int64(s.SegmentSize),
		FlushEvery: s.FlushInterval, MaxAge: s.MaxAge, MinFree: int64(s.MinFree), Endurance: int64(s.DeviceEndurance),
		Cameras: len(a.cfg().Cameras), Log: a.log, Registerer: a.reg, OnDamage: a.hurt.Stills, Timed: a.disk.write})
	if err != nil {
		return fmt.Errorf("open the stills: %w", err)
	}
	a.shelf = &shelf{ring: a.ring, clock: a.clock, log: a.log, wake: make(chan struct{}, 1)}
	open := func() (err error) {
		a.journal, err = journal.Open(filepath.Join(data, JournalFile), journal.Options{Log: a.log, Registerer: a.reg, OnDamage: a.hurt.Journal, Now: a.clock.Now})
		return err
	}
	// A damaged journal is written anew, which takes as much room again as it has, so one try may not be enough.
	for room := int64(outlet.RoomBytes); ; room *= 2 {
		if err = open(); !errors.Is(err, journal.ErrFull) {
			break
		}
		if freed, _ := a.ring.Release(room); freed == 0 {
			break
		}
	}
	if err != nil {
		return errors.Join(fmt.Errorf("open the journal: %w", err), a.ring.Close())
	}
	a.watch, err = guard.NewWatch(a.log, []string{data, filepath.Join(data, StillsDir)}, a.journal.Failing)
	if err != nil {
		return errors.Join(err, a.closeStores())
	}
	return nil
}

// closeStores flushes the stills before the journal closes: an event may name them.
func (a *Agent) closeStores() error { return errors.Join(a.ring.Close(), a.journal.Close()) }
