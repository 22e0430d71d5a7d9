package database

import (
	"fmt"
	"log/slog"
	"time"

	bolt "go.etcd.io/bbolt"
)

// Options of Open, Check and Repair.
type Options struct {
	// Name is what people call the file, such as "identity file".
	Name string
	// Buckets are made if they are not there. A lost one counts as damage.
	Buckets [][]byte
	// Copied says which buckets are kept a second time; nil: none.
	Copied func(bucket string) bool
	// Sound says what is wrong with a record; nil: nothing ever is. It gets those of all buckets.
	Sound func(bucket string, key, value []byte) error
	// Agree names contradictions among records, for what is derived from others; nil: there are
	// none.
	Agree func(tx *bolt.Tx) []string
	// Rebuild makes anew what is derived, after some records were lost.
	Rebuild func(tx *bolt.Tx) error
	// OnDamage is called when a damaged file was replaced, by Open before it returns or later from
	// the call that found the damage. It must not call the DB.
	OnDamage func(Damage)
	// Log receives what someone should know of. Nil logs nothing.
	Log *slog.Logger
	// Now is the clock for the names of files set aside. Nil means time.Now.
	Now func() time.Time
	// NoSync leaves out the wait for the disk. For tests.
	NoSync bool
	// Patience is how long Open waits for another process to let go of the file; 0 means one
	// second.
	Patience time.Duration
}

func (o Options) withDefaults() Options {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Copied == nil {
		o.Copied = func(string) bool { return false }
	}
	if o.Sound == nil {
		o.Sound = func(string, []byte, []byte) error { return nil }
	}
	if o.Agree == nil {
		o.Agree = func(*bolt.Tx) []string { return nil }
	}
	if o.Rebuild == nil {
		o.Rebuild = func(*bolt.Tx) error { return nil }
	}
	if o.Patience == 0 {
		o.Patience = time.Second
	}
	return o
}

// Damage tells of a damaged file that was set aside.
type Damage struct {
	Time  time.Time
	Name  string // Options.Name
	Cause string // what was found first
	Aside string // path of the damaged file; "": there was none
	// Records is what the new file holds; Restored of them came from the copy.
	Records, Restored int
	// LostPages could not be read, BadRecords were no records any more.
	LostPages, BadRecords int
}

func (d Damage) String() string {
	kept := "nothing was left of it"
	if d.Aside != "" {
		kept = "the damaged file is kept as " + d.Aside
	}
	return fmt.Sprintf("the %s was damaged (%s): %d records were kept, %d of them from its copy; %d pages and %d "+
		"records could not be read; %s",
		d.Name, d.Cause, d.Records, d.Restored, d.LostPages, d.BadRecords, kept)
}
