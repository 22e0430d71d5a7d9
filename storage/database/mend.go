package database

import (
	"fmt"
	"time"

	"vmsbridge/storage/guard"
)

// mendPause is how long it is not tried again to replace a damaged file that could not be replaced,
// on a full disk, say.
const mendPause = 5 * time.Second

// replace puts a new file with what can be read in the place of a damaged one, and opens it. The
// file must not be open.
func (d *DB) replace(cause string) error {
	now := d.opts.Now().UTC()
	var dam Damage
	aside, err := guard.Replace(d.path, now, func(to string) (err error) {
		if dam, err = renew(d.path, to, d.opts); err != nil {
			err = fmt.Errorf("recover a damaged file (%s): %w", cause, err)
		}
		return err
	})
	if err != nil {
		return err
	}
	dam.Time, dam.Name, dam.Cause, dam.Aside = now, d.opts.Name, cause, aside
	db, err := d.openBolt()
	if err != nil {
		return fmt.Errorf("open the recovered file: %w", err)
	}
	d.at.Store(db)
	d.foundMu.Lock()
	d.damage = append(d.damage, dam)
	d.foundMu.Unlock()
	d.opts.Log.Error("a damaged file was set aside and recovered", "file", d.path, "cause", cause, "aside", dam.Aside,
		"records", dam.Records,
		"restored", dam.Restored, "lost_pages", dam.LostPages, "bad_records", dam.BadRecords)
	if dam.Aside != "" {
		guard.ForgetOldest(d.path, dam.Aside)
	}
	if d.opts.OnDamage != nil {
		d.opts.OnDamage(dam)
	}
	return nil
}

// repair handles damage that a transaction on o found. Nil says that it is worth a second try.
func (d *DB) repair(o *open, damaged *guard.DamageError) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.at.Load() != o {
		return nil // somebody else repaired it, or Close came first
	}
	// o may have stayed locked where it panicked, so it is left behind; closing its file keeps it
	// from being written.
	guard.Abandon(o.file)
	d.at.Store(nil)
	r, err := inspect(d.path, d.opts)
	if err == nil && r.Clean() {
		var db *open
		if db, err = d.openBolt(); err == nil {
			d.opts.Log.Error("a transaction broke off, but the file is sound", "file", d.path, "error", damaged)
			d.at.Store(db)
			return damaged
		}
	}
	if err == nil {
		err = d.replace(r.Problems[0])
	}
	if err != nil {
		d.broken, d.retry = fmt.Errorf("%s %s: %w", d.opts.Name, d.path, err), time.Now().Add(mendPause)
		return d.broken
	}
	return nil
}

// leave closes o, whose last change the device may lack: the next call opens the file anew. It
// waits for the transactions under way.
func (d *DB) leave(o *open, cause error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.at.Load() != o {
		return
	}
	d.at.Store(nil)
	d.broken, d.retry = fmt.Errorf("%s %s: %w", d.opts.Name, d.path, cause), time.Time{}
	d.opts.Log.Error("a file could not be flushed; it is opened anew", "file", d.path, "error", cause)
	if err := guard.Run(o.db.Close); err != nil {
		guard.Abandon(o.file)
	}
}

// mend tries anew to open a file that could not be replaced.
func (d *DB) mend() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.at.Load() != nil:
		return nil
	case d.closed || d.broken == nil:
		return ErrClosed
	case time.Now().Before(d.retry):
		return d.broken
	}
	if err := d.openFile(); err != nil {
		d.broken, d.retry = fmt.Errorf("%s %s: %w", d.opts.Name, d.path, err), time.Now().Add(mendPause)
		return d.broken
	}
	d.broken = nil
	return nil
}
