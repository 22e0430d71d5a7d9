package journal

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/journal/file"
	"vmsbridge/uplink/vms"
)

// Options of Open. The zero value works.
type Options struct {
	// Log receives what someone should know of: damage, and what was recovered. Nil logs nothing.
	Log *slog.Logger
	// Registerer takes the metrics (vmsbridge_journal_…). Nil registers none. One journal a
	// registerer.
	Registerer prometheus.Registerer
	// OnDamage is called when a damaged file was set aside and replaced: by Open before it returns,
	// or later from whichever call found the damage. It must not call the journal.
	OnDamage func(Damage)
	// LockTimeout is how long Open waits for another process to let go of the journal; 0 means one
	// second.
	LockTimeout time.Duration
	// MaxBytes caps the file; changes beyond it give ErrFull. 0 means no cap.
	MaxBytes int64
	// CompactAbove is the size in bytes from which on Compact does something; 0 means 32 MiB.
	CompactAbove int64
	// Now is the clock for Entry.Since and the names of files set aside. Nil means time.Now.
	Now func() time.Time

	file func(*file.Options) // changes what the file is opened with, for tests
}

// Damage tells of a damaged file that was set aside, and of what was carried into the new one.
type Damage = file.Damage

// Journal is an open journal. All methods are safe for concurrent use; those that change it block
// until the change is on the device, and several callers share one transaction. Reads never wait
// for a change in progress.
type Journal struct {
	file *file.File
	// activity says when ongoing events were last known to go on, where it is later than what the
	// file says.
	activity activity
	opts     Options
	metrics  *metrics
	// settling is what Settle has begun and not ended; nil: nothing.
	settling atomic.Pointer[settlement]

	// stateMu guards what is kept beside the file.
	stateMu     sync.Mutex
	shifts      map[uint32]time.Duration // by which eras were wrong: see Announce
	subscribers map[int]func(vms.Event)
	nextSub     int
	cursors     []*Cursor // that the latest call of Cursors asked for

	changed chan struct{}
	// outboxBytes is about what the waiting events take up, -1 until Trim has counted.
	outboxBytes atomic.Int64
}

// Open opens the journal at path, making it (mode 0600) if it does not exist; its directory must
// exist. A damaged file is set aside beside it, as path + ".damaged-" + time, and what can be read
// of it is carried into a new one: see Damage. A file in use gives ErrLocked, one of a newer
// version ErrNewer, one of a build of before the first release ErrOlder, and trouble of the system
// (permissions, full disk) its own error; these leave everything as it is.
//
// After an unclean end the whole file is read once to find damage early: before Open returns if it
// is small, and else beside all other calls. What is found then is handled as any damage that shows
// while the journal is open.
func Open(path string, opts Options) (*Journal, error) {
	if opts.CompactAbove == 0 {
		opts.CompactAbove = 32 << 20
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	j := &Journal{
		opts: opts, metrics: newMetrics(),
		activity: activity{last: map[string]int64{}},
		shifts:   map[uint32]time.Duration{}, subscribers: map[int]func(vms.Event){},
		changed: make(chan struct{}, 1),
	}
	j.outboxBytes.Store(-1)
	var err error
	o := file.Options{Log: opts.Log, Registerer: opts.Registerer, OnDamage: opts.OnDamage, Committed: j.committed,
		Activity: j.activity.all, LockTimeout: opts.LockTimeout, MaxBytes: opts.MaxBytes, Now: opts.Now}
	if opts.file != nil {
		opts.file(&o)
	}
	if j.file, err = file.Open(path, o); err != nil {
		return nil, err
	}
	j.metrics.register(opts.Registerer, j)
	if waiting, _ := j.file.Tally(); waiting > 0 {
		j.signal()
	}
	return j, nil
}

// Close ends the journal. Calls under way finish first; later ones give ErrClosed. A second Close
// does nothing.
func (j *Journal) Close() error { return j.file.Close() }

// Damage tells what happened if this journal found its file damaged since Open began, else nil.
func (j *Journal) Damage() *Damage { return j.file.Damage() }

// Begin begins a read transaction on the whole file, for a backup of it; whoever calls it ends it.
func (j *Journal) Begin() (*bolt.Tx, error) { return j.file.Begin() }

// Failing is why changes cannot be stored at the moment, as far as is known without trying; nil if
// all is well.
func (j *Journal) Failing() error { return j.file.Failing() }

// Probe tries whether changes can be stored, by one that changes nothing. A disk without room for
// the next ones is full, even where this one could be stored.
func (j *Journal) Probe() error { return j.file.Probe() }

// Doubtful says whether there is a reason to Probe: the last change could not be stored, or the
// disk has no room for the next.
func (j *Journal) Doubtful() bool { return j.file.Doubtful() }

// Check reads everything and compares it: page structure, checksums, the events with their places
// in the indexes, the outbox with its ids and events. It reads the file's pages once, in order,
// some seconds for a million events. It changes nothing and runs beside everything else; changes
// wait only while it begins. The error is one of reading; what is wrong is in the Report.
func (j *Journal) Check() (file.Report, error) { return j.file.Check() }
