package file

import (
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vmsbridge/storage/journal/schema"
)

// Options of Open. The zero value works.
type Options struct {
	// Log receives what someone should know of: damage, and what was recovered. Nil logs nothing.
	Log *slog.Logger
	// Registerer takes the metrics (vmsbridge_journal_…). Nil registers none. One file a
	// registerer.
	Registerer prometheus.Registerer
	// OnDamage is called when a damaged file was set aside and replaced: by Open before it returns,
	// or later from whichever call found the damage. It must not call the File.
	OnDamage func(Damage)
	// Committed is called with each transaction that has become durable, in their order, before the
	// calls of Do that took part in it return. It may read, and must not call Do.
	Committed func(*schema.Tx)
	// LockTimeout is how long Open waits for another process to let go of the file; 0 means one
	// second.
	LockTimeout time.Duration
	// CheckAtOnce is up to how many bytes a file that was not closed in good order is read before
	// Open returns; 0 means 32 MiB.
	CheckAtOnce int64
	// CountAtOnce is up to how many entries that wait or are parked of a larger file, which was
	// closed in good order, are looked through before Open returns; 0 means 50,000.
	CountAtOnce int
	// MaxBytes caps the file; changes beyond it give ErrFull. 0 means no cap.
	MaxBytes int64
	// Activity is when events that go on were last known to do so, in milliseconds since 1970, by
	// id: all that NoteActivity was told and that is still of use. Nil: nothing is noted. It must
	// not block.
	Activity func() map[string]int64
	// CheckpointBytes is after how many bytes of new pages the file itself is flushed; 0 means 3
	// MiB.
	CheckpointBytes int64
	// Careful answers a change only when the file has it too, as is done where the disk is nearly
	// full.
	Careful bool
	// Beside runs what is left of a change that was answered; it may block on the disk. Nil runs it
	// on a goroutine of its own. If it is not run at all, the next caller does it.
	Beside func(func())
	// Now is the clock for the names of files set aside, and since when an event waits that is put
	// back into the outbox. Nil means time.Now.
	Now func() time.Time
}

func (o Options) withDefaults() Options {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.LockTimeout == 0 {
		o.LockTimeout = time.Second
	}
	if o.CheckAtOnce == 0 {
		o.CheckAtOnce = 32 << 20
	}
	if o.CountAtOnce == 0 {
		o.CountAtOnce = 50_000
	}
	if o.CheckpointBytes == 0 {
		o.CheckpointBytes = checkpointBytes
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}
