package journal

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/journal/form"
	"vmsbridge/storage/journal/guard"
	"vmsbridge/storage/vfs"
	"vmsbridge/uplink/vms"
)

// Options of Open. The zero value works.
type Options struct {
	// Log receives what someone should know of: damage, and what was recovered. Nil logs nothing.
	Log *slog.Logger
	// Registerer takes the metrics (vmsbridge_journal_…). Nil registers none. One journal a registerer.
	Registerer prometheus.Registerer
	// OnDamage is called when a damaged file was set aside and replaced: by Open before it returns, or later from
	// whichever call found the damage. It must not call the journal.
	OnDamage func(Damage)
	// LockTimeout is how long Open waits for another process to let go of the journal; 0 means one second.
	LockTimeout time.Duration
	// MaxBytes caps the file; changes beyond it give ErrFull. 0 means no cap.
	MaxBytes int64
	// CompactAbove is the size in bytes from which on Compact does something; 0 means 32 MiB.
	CompactAbove int64
	// Now is the clock for Entry.Since and the names of files set aside. Nil means time.Now.
	Now func() time.Time
}

// Journal is an open journal. All methods are safe for concurrent use; those that change it block until the change is on
// the device, and several callers share one transaction. Reads never wait for a change in progress.
type Journal struct {
	path    string
	opts    Options
	log     *slog.Logger
	metrics *metrics

	// dbMu is held for reading by every transaction and for writing while db is replaced or closed.
	dbMu   sync.RWMutex
	db     *bolt.DB // nil: closed, or broken says why it is not open
	file   *os.File // db's; closed by db, or by repair in its place
	broken broken
	damage *Damage
	lock   io.Closer // on path + ".lock": while it is held, nobody else touches the file, nor those beside it; nil once closed
	move   move

	// queueMu guards queue: the changes that wait for the next transaction.
	queueMu sync.Mutex
	queue   []*change
	// commitMu is held by the caller that commits for all; it orders commits and the calls of subscribers.
	commitMu sync.Mutex
	// namesUnsure says that a compacted file has the journal's name, but perhaps not after a crash. commitMu guards it.
	namesUnsure bool
	// settling is what Settle has begun and not ended; nil: nothing. commitMu guards it.
	settling *settlement

	// stateMu guards what is derived from the database after each commit.
	stateMu     sync.Mutex
	waiting     int
	parked      int
	tries       map[string]int
	subscribers map[int]func(vms.Event)
	nextSub     int
	cursors     []*Cursor

	changed chan struct{}
	// outboxBytes is about what the waiting events take up, -1 until Trim has counted.
	outboxBytes atomic.Int64
}

// Open opens the journal at path, making it (mode 0600) if it does not exist; its directory must exist. A damaged file is
// set aside beside it, as path + ".damaged-" + time, and what can be read of it is carried into a new one: see Damage. A
// file in use gives ErrLocked, one of a newer version ErrNewer, and trouble of the system (permissions, full disk) its
// own error; these three leave everything as it is.
//
// After an unclean end the whole file is read once to find damage early (about a second per gigabyte from an SSD).
func Open(path string, opts Options) (*Journal, error) {
	j := newJournal(path, opts)
	if err := j.open(); err != nil {
		return nil, fmt.Errorf("open journal %s: %w", path, explain(err))
	}
	j.metrics.register(opts.Registerer, j)
	if j.waiting > 0 {
		j.signal()
	}
	return j, nil
}

// newJournal is a journal that is not open yet, its options filled in.
func newJournal(path string, opts Options) *Journal {
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	if opts.LockTimeout == 0 {
		opts.LockTimeout = time.Second
	}
	if opts.CompactAbove == 0 {
		opts.CompactAbove = 32 << 20
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	j := &Journal{
		path: path, opts: opts, log: opts.Log,
		tries: map[string]int{}, subscribers: map[int]func(vms.Event){},
		changed: make(chan struct{}, 1), metrics: newMetrics(),
	}
	j.outboxBytes.Store(-1)
	return j
}

// open opens the file under the lock, and makes a new one where it must.
func (j *Journal) open() (err error) {
	if j.lock, err = lock(j.path+lockSuffix, j.opts.LockTimeout); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = j.lock.Close()
		}
	}()
	return j.openFile()
}

// openFile opens the file, after it has ended what a crash cut off. A damaged one is replaced.
func (j *Journal) openFile() error {
	if err := finishRecovery(j.path); err != nil {
		return err
	}
	if err := create(j.path); err != nil {
		return err
	}
	err := j.openDB()
	if errors.Is(err, form.ErrOlder) {
		err = j.upgrade()
	}
	if damaged, ok := errors.AsType[*guard.DamageError](err); ok {
		err = j.replaceDamaged(damaged)
	}
	return err
}

const lockSuffix = ".lock"

// lock takes the lock, waiting for another holder for a bounded time.
func lock(path string, patience time.Duration) (io.Closer, error) {
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		l, err := vfs.OS.Lock(path)
		if !errors.Is(err, vfs.ErrLocked) {
			return l, err
		}
		if time.Now().After(deadline) {
			return nil, ErrLocked
		}
	}
}

// Close ends the journal. Calls under way finish first; later ones give ErrClosed. A second Close does nothing.
func (j *Journal) Close() error {
	j.commitMu.Lock()
	defer j.commitMu.Unlock()
	j.dbMu.Lock()
	defer j.dbMu.Unlock()
	if j.lock != nil {
		defer func() { _ = j.lock.Close(); j.lock = nil }()
	}
	if j.db == nil {
		return nil
	}
	err := guard.Run(func() error {
		return j.db.Update(func(tx *bolt.Tx) error { return guard.Bucket(tx, form.Format).Put(form.KeyClean, []byte{1}) })
	})
	if err != nil {
		// Only the next start is slower for it.
		j.log.Warn("cannot mark the journal as closed cleanly", "error", err)
	}
	err = guard.Run(j.db.Close)
	j.db = nil
	if err != nil {
		return fmt.Errorf("close journal %s: %w", j.path, err)
	}
	return nil
}

// Damage tells what happened if this journal found its file damaged since Open began, else nil.
func (j *Journal) Damage() *Damage {
	j.dbMu.RLock()
	defer j.dbMu.RUnlock()
	return j.damage
}
