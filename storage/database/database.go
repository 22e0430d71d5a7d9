package database

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"vmsbridge/storage/guard"
)

var (
	// ErrLocked is wrapped by Open's and Hold's error when another process has the file open.
	ErrLocked = guard.ErrLocked
	// ErrClosed is returned by every call after Close.
	ErrClosed = errors.New("the file is closed")
)

// DB is an open file. All methods are safe for concurrent use.
type DB struct {
	path string
	opts Options
	lock io.Closer

	at      atomic.Pointer[open] // nil: closed, or broken
	changed chan struct{}        // one value: something changed since the copy was written
	stop    chan struct{}
	stopped chan struct{}

	mu     sync.Mutex // guards all below, and who replaces at
	closed bool
	broken error // why the file cannot be open
	retry  time.Time
	copied uint64 // sum of the copy
	copyTx int    // transaction of the copy

	// guards damage; never held over I/O, as mu is: whoever asks how the file is must not wait for
	// a copy
	foundMu sync.Mutex
	damage  []Damage
}

// open is the file as bbolt has it.
type open struct {
	db   *bolt.DB
	file *os.File
}

// Open opens the file at path, making it (mode 0600) if it does not exist; its folder must exist.
// It reads all of it. Damage costs what is damaged: see Damage. A file in use gives ErrLocked, and
// trouble of the system (permissions, full disk) its own error. Close ends the goroutine that
// writes the copy.
func Open(path string, o Options) (*DB, error) {
	d := &DB{path: path, opts: o.withDefaults(), changed: make(chan struct{}, 1), stop: make(chan struct{}),
		stopped: make(chan struct{})}
	var err error
	if d.lock, err = guard.Lock(path, d.opts.Patience); err == nil {
		if err = d.openFile(); err != nil {
			_ = d.lock.Close()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("open %s %s: %w", d.opts.Name, path, err)
	}
	go d.keepCopy()
	return d, nil
}

// openFile opens the file after it has ended what a crash cut off. A damaged one is replaced.
func (d *DB) openFile() error {
	if err := guard.FinishRecovery(d.path); err != nil {
		return err
	}
	// Where there is a copy, a file that is missing was lost.
	if _, err := os.Lstat(d.path + CopySuffix); errors.Is(err, os.ErrNotExist) {
		if err := guard.Create(d.path); err != nil {
			return err
		}
	}
	r, err := inspect(d.path, d.opts)
	if err != nil {
		return err
	}
	if r.Clean() {
		var db *open
		if db, err = d.openBolt(); err == nil {
			d.at.Store(db)
			return nil
		}
		if _, damaged := errors.AsType[*guard.DamageError](err); !damaged {
			return err
		}
		r.Addf("%v", err)
	}
	return d.replace(r.Problems[0])
}

func (d *DB) openBolt() (*open, error) {
	db, file, err := guard.Open(d.path, &bolt.Options{Timeout: d.opts.Patience, NoSync: d.opts.NoSync})
	if err != nil {
		return nil, err
	}
	err = guard.GiveToOwner(file)
	if err == nil && !d.opts.NoSync {
		err = guard.SettleMeta(db, file)
	}
	if err == nil {
		err = guard.Run(func() error { return db.Update(d.makeBuckets) })
	}
	if err != nil {
		if _, damaged := errors.AsType[*guard.DamageError](err); damaged {
			guard.Abandon(file)
		} else {
			_ = db.Close()
		}
		return nil, err
	}
	return &open{db, file}, nil
}

func (d *DB) makeBuckets(tx *bolt.Tx) error {
	for _, name := range d.opts.Buckets {
		if _, err := tx.CreateBucketIfNotExists(name); err != nil {
			return err
		}
	}
	return nil
}

// View runs read in a read transaction. Nothing of the transaction may be kept after it. read may
// be run a second time, if the file had to be repaired for it.
func (d *DB) View(read func(*bolt.Tx) error) error {
	return d.run(func(o *open) error { return o.db.View(read) })
}

// Update runs write in a transaction and commits it durably. As with View, write may be run a
// second time. If the file was moved away or deleted, the error wraps guard.ErrGone: the change is
// on no file that a name leads to.
func (d *DB) Update(write func(*bolt.Tx) error) error {
	err := d.run(func(o *open) error {
		if err := d.commit(o, write); err != nil {
			return err
		}
		return guard.InPlace(o.file, d.path)
	})
	select {
	case d.changed <- struct{}{}:
	default:
	}
	return err
}

func (d *DB) commit(o *open, write func(*bolt.Tx) error) error {
	transaction := -1
	err := o.db.Update(func(tx *bolt.Tx) error {
		err := write(tx)
		if err == nil {
			transaction = tx.ID()
		}
		return err
	})
	if err != nil && transaction >= 0 && guard.Shows(o.db, transaction) {
		d.leave(o, err)
	}
	return err
}

func (d *DB) run(do func(*open) error) error {
	for range 4 { // the file was closed meanwhile, is opened, is repaired, and does
		o := d.at.Load()
		if o == nil {
			if err := d.mend(); err != nil {
				return err
			}
			continue
		}
		err := guard.Run(func() error { return do(o) })
		if errors.Is(err, bolterrors.ErrDatabaseNotOpen) && d.at.Load() != o {
			continue // it is being opened anew
		}
		damaged, ok := errors.AsType[*guard.DamageError](err)
		if !ok {
			return err
		}
		if err := d.repair(o, damaged); err != nil {
			return err
		}
	}
	return fmt.Errorf("%s %s is damaged: stop the program, and look at it with fsck", d.opts.Name, d.path)
}

// Begin begins a read transaction, which keeps all as it is until it ends: it is for a copy of the
// whole file.
func (d *DB) Begin() (tx *bolt.Tx, err error) {
	err = d.run(func(o *open) error { tx, err = o.db.Begin(false); return err })
	return tx, err
}

// InPlace is nil while the file's name leads to it, and wraps guard.ErrGone if it was moved away,
// deleted or replaced.
func (d *DB) InPlace() error {
	if o := d.at.Load(); o != nil {
		return guard.InPlace(o.file, d.path)
	}
	return nil
}

// Damage tells what damage was found since Open began, oldest first.
func (d *DB) Damage() []Damage {
	d.foundMu.Lock()
	defer d.foundMu.Unlock()
	return append([]Damage(nil), d.damage...)
}

// Makes reports whether Open makes a bucket of that name, so that a missing one is damage.
func (d *DB) Makes(name string) bool {
	return slices.ContainsFunc(d.opts.Buckets, func(b []byte) bool { return string(b) == name })
}

// Path is the file's.
func (d *DB) Path() string { return d.path }

// Close writes the copy and lets go of the file. It waits for transactions under way. A second
// Close does nothing.
func (d *DB) Close() error {
	d.mu.Lock()
	was := d.closed
	d.closed = true
	d.mu.Unlock()
	if was {
		return nil
	}
	close(d.stop)
	<-d.stopped
	d.mu.Lock()
	defer d.mu.Unlock()
	if o := d.at.Swap(nil); o != nil {
		d.copyLocked(o, true)
		if err := guard.Run(o.db.Close); err != nil {
			return errors.Join(fmt.Errorf("close %s %s: %w", d.opts.Name, d.path, err), d.lock.Close())
		}
	}
	return d.lock.Close()
}

// copyPath is the copy's.
func (d *DB) copyPath() string { return filepath.Clean(d.path) + CopySuffix }
