package file

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/guard"
	"vmsbridge/storage/journal/schema"
)

// File is a journal's file, open. All methods are safe for concurrent use; those that change it
// block until the change is on the device, and several callers share one transaction. Reads never
// wait for a change in progress.
type File struct {
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
	redo   *redo // db's; nil: db is flushed with each change
	// held keep the pages of the last checkpoint, of one that is being made, and of steady
	held     []*bolt.Tx
	steady   atomic.Pointer[Steady] // nil: none; it goes before its transaction ends
	newPages atomic.Int64           // bytes, since the last checkpoint
	// pointMu is held over a checkpoint. dbMu, and commitMu while it is begun, are taken first.
	pointMu sync.Mutex
	// doubtful is why the device may lack what db shows; nil: it has that, or the log has.
	doubtful atomic.Pointer[error]
	// lateMu guards late, a change that is in the log and was answered, and is held while db takes
	// it. dbMu is taken first.
	lateMu sync.Mutex
	late   *bolt.Tx
	beside sync.WaitGroup // what Options.Beside runs

	// segments, which pointMu guards, have what the file holds, but for pending: rows that the next
	// block gets. That and snapshot need dbMu and, where it is held for reading, commitMu.
	segments     *segments
	segmentsNext time.Time // when it is tried again to write any; pointMu
	attachNext   time.Time // when it is tried again to begin a log; commitMu
	pending      []byte
	snapshot     *snapshot // nil: none is under way

	// on path + ".lock": while it is held, nobody else touches the file, nor those beside it; nil
	// once closed
	lock io.Closer
	move move

	// queueMu guards queue: the changes that wait for the next transaction.
	queueMu sync.Mutex
	queue   []*change
	// commitMu is held by the caller that commits for all; it orders commits and the calls of
	// Options.Committed.
	commitMu sync.Mutex
	// namesUnsure says that a compacted file has the journal's name, but perhaps not after a crash.
	// commitMu guards it.
	namesUnsure bool

	tally tally

	unchecked bool // Open has left the pages to lookThrough
	look      look
	copying   look                  // of the rows into segments
	failing   atomic.Pointer[error] // of the last change; nil: it was stored
}

// Open opens the file at path, making it (mode 0600) if it does not exist; its directory must
// exist. A damaged file is set aside beside it, as path + ".damaged-" + time, and what can be read
// of it is carried into a new one: see Damage. A file in use gives ErrLocked, one of a newer
// version ErrNewer, one of a build of before the first release ErrOlder, and trouble of the system
// (permissions, full disk) its own error; these leave everything as it is.
//
// After an unclean end the whole file is read once to find damage early: before Open returns if it
// is small, and else beside all other calls, at half the speed of the disk. What is found then is
// handled as any damage that shows while the file is open.
func Open(path string, opts Options) (*File, error) {
	f := newFile(path, opts)
	if err := f.open(); err != nil {
		return nil, fmt.Errorf("open journal %s: %w", path, explain(err))
	}
	f.metrics.register(opts.Registerer)
	if f.unchecked {
		f.look.begin(f.lookThrough)
	}
	if f.snapshot != nil && !f.snapshot.done {
		f.copying.begin(f.copyRows)
	}
	return f, nil
}

// newFile is a file that is not open yet.
func newFile(path string, opts Options) *File {
	opts = opts.withDefaults()
	return &File{path: path, opts: opts, log: opts.Log, metrics: newMetrics()}
}

// open opens the file under the lock, and makes a new one where it must.
func (f *File) open() (err error) {
	if f.lock, err = guard.Lock(f.path, f.opts.LockTimeout); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = f.lock.Close()
		}
	}()
	return f.openFile(true)
}

// openFile opens the file, after it has ended what a crash cut off. A damaged one is replaced; lazy
// is openDB's.
func (f *File) openFile(lazy bool) error {
	if err := guard.FinishRecovery(f.path); err != nil {
		return err
	}
	err := f.emptied()
	if err == nil {
		if err = guard.Create(f.path); err == nil {
			err = f.openDB(lazy)
		}
	}
	if damaged, ok := errors.AsType[*guard.DamageError](err); ok {
		err = f.replaceDamaged(damaged)
	}
	return err
}

// Close ends the journal. Calls under way finish first; later ones give ErrClosed. A second Close
// does nothing.
func (f *File) Close() error {
	f.look.end()
	f.copying.end()
	defer f.beside.Wait()
	f.commitMu.Lock()
	defer f.commitMu.Unlock()
	f.dbMu.Lock()
	defer f.dbMu.Unlock()
	if f.lock != nil {
		defer func() { _ = f.lock.Close(); f.lock = nil }()
	}
	if f.db == nil {
		return nil
	}
	f.settle()
	if doubt := f.doubtful.Load(); doubt != nil {
		f.leave(*doubt) // the next Open reads the log
		return nil
	}
	if err := f.detach(schema.KeyClean); err != nil {
		// Only the next start is slower for it.
		f.log.Warn("cannot mark the journal as closed cleanly", "error", err)
	}
	if r := f.redo; r != nil {
		f.forsake()
		r.close()
	}
	f.closeSegments()
	err := guard.Run(f.db.Close)
	f.db = nil
	if err != nil {
		return fmt.Errorf("close journal %s: %w", f.path, err)
	}
	return nil
}

// Damage tells what happened if this journal found its file damaged since Open began, else nil.
func (f *File) Damage() *Damage {
	f.dbMu.RLock()
	defer f.dbMu.RUnlock()
	return f.damage
}
