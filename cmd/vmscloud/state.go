package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vmsbridge/cmd/vmscloud/registry"
	"vmsbridge/storage/database"
	"vmsbridge/storage/journal"
	"vmsbridge/storage/postgres"
	"vmsbridge/uplink/identity/store"
	"vmsbridge/uplink/vms"
)

// storeFlag says where what the service knows is kept.
type storeFlag struct {
	dataFlag
	Store string `help:"PostgreSQL that keeps everything instead of the data folder, such as postgres://vms@db1,db2/vms; its password belongs into PGPASSWORD or ~/.pgpass." env:"VMSCLOUD_STORE" placeholder:"ADDRESS"`
}

// flags are those that lead another command to the same place. They show no address: it may hold a
// password.
func (f storeFlag) flags() string {
	if f.Store != "" {
		return `--store "$VMSCLOUD_STORE"`
	}
	return "--data " + f.Data
}

// place is what to call it to people.
func (f storeFlag) place() string {
	if f.Store != "" {
		return "the database"
	}
	return f.Data
}

// Journal is what keeps the events: a file (storage/journal), or PostgreSQL (storage/postgres).
type Journal interface {
	PutAll(events []vms.Event, report bool) error
	Get(id string) (vms.Event, error)
	List(q vms.Query, c *vms.Cursor) (vms.Page, error)
	OngoingOf(actors ...vms.Actor) ([]vms.Event, error)
	Unfinished() ([]journal.Ongoing, error)
	Empty() (bool, error)
	Meta(key string) ([]byte, error)
	SetMeta(key string, value []byte) error
	Forget(gone func(vms.Actor) bool) (int, error)
	Prune(r journal.Retention) (int, error)
	Failing() error
	Probe() error
	Doubtful() bool
	Close() error
}

var _, _ Journal = (*journal.Journal)(nil), (*postgres.Events)(nil)

// file is the file that the events are in, nil if they are in PostgreSQL.
func (l *ledger) file() *journal.Journal {
	j, _ := l.Journal.(*journal.Journal)
	return j
}

// state is all that the service keeps. What is not opened is nil.
type state struct {
	db     *postgres.DB // nil: it is in files
	ids    *store.Store
	reg    *registry.Registry
	events Journal
}

// close ends all, in the reverse order.
func (s *state) close() error {
	var err error
	if s.events != nil {
		err = s.events.Close()
	}
	if s.reg != nil {
		err = errors.Join(err, s.reg.Close())
	}
	if s.ids != nil {
		err = errors.Join(err, s.ids.Close())
	}
	if s.db != nil {
		s.db.Close()
	}
	return err
}

// open opens accounts and people.
func (f storeFlag) open(log *slog.Logger) (s *state, err error) {
	s = &state{}
	if f.Store != "" {
		if s.db, err = f.openDatabase(log, 0); err != nil {
			return s, err
		}
	}
	if note, err := f.note(s.db); err != nil {
		return s, err
	} else if err := note.refusal(f); err != nil {
		return s, err
	}
	if f.Store == "" {
		s.ids, err = openUsers(f.Data, store.Options{Log: log})
		return s, err
	}
	s.ids, err = store.New(s.db.Records("identity"), store.Options{Log: log})
	return s, err
}

// openDatabase opens the PostgreSQL. patience is for one call, 0 for that of a service.
func (f storeFlag) openDatabase(log *slog.Logger, patience time.Duration) (*postgres.DB, error) {
	name, _ := os.Hostname()
	return postgres.Open(context.Background(), f.Store, postgres.Options{Name: name, Log: log, Patience: patience})
}

// openRegistry opens the bridges.
func (f storeFlag) openRegistry(s *state, log *slog.Logger) (err error) {
	if s.db != nil {
		s.reg, err = registry.New(s.db.Records("registry"))
		return err
	}
	s.reg, err = registry.OpenWith(filepath.Join(f.Data, registryFile), registry.Options{Log: log})
	return err
}

// openEvents opens the events.
func (f storeFlag) openEvents(s *state, metrics prometheus.Registerer, log *slog.Logger) error {
	if s.db != nil {
		events, err := s.db.Events()
		if err == nil {
			s.events = events
		}
		return err
	}
	events, err := journal.Open(filepath.Join(f.Data, eventsFile), journal.Options{Log: log, Registerer: metrics})
	if err == nil {
		s.events = events
	}
	return err
}

// exists is nil if there may be an account at the place.
func (f storeFlag) exists() error {
	if f.Store != "" {
		return nil
	}
	err := database.Exists(filepath.Join(f.Data, identityFile))
	if errors.Is(err, fs.ErrPermission) {
		return notAllowed(err)
	}
	if err != nil {
		return f.noAccount()
	}
	return nil
}

// notAllowed says who may do what the caller may not.
func notAllowed(err error) error {
	return fmt.Errorf("%w; run this as the user who owns the folder: sudo -u vmscloud vmscloud …", err)
}
