package database

import (
	"time"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/guard"
)

const (
	// copyPause is how long changes wait for the copy, at least, and copyRate how many bytes of
	// copies are written a second, at most: 1.4 GB a day if there is always something new.
	copyPause = 30 * time.Second
	copyRate  = 16 << 10
)

// keepCopy writes the copy some time after changes, until Close.
func (d *DB) keepCopy() {
	defer close(d.stopped)
	var due <-chan time.Time
	changed := d.changed
	for {
		select {
		case <-d.stop:
			return
		case <-changed:
			changed = nil // until it is written
			pause := copyPause
			if o := d.at.Load(); o != nil {
				if info, err := o.file.Stat(); err == nil {
					pause = max(pause, time.Duration(info.Size()/copyRate)*time.Second)
				}
			}
			due = time.After(pause)
		case <-due:
			due, changed = nil, d.changed
			d.mu.Lock()
			if o := d.at.Load(); o != nil {
				d.copyLocked(o, false)
			}
			d.mu.Unlock()
		}
	}
}

// copyLocked writes the copy if something in it is new; last, if anything in the file is. Trouble
// with it costs nothing now.
func (d *DB) copyLocked(o *open, last bool) {
	err := guard.Run(func() error {
		return o.db.View(func(tx *bolt.Tx) error {
			keep := d.copied
			if last {
				if d.copyTx == tx.ID() {
					return nil
				}
				keep = 0
			}
			if err := guard.InPlace(o.file, d.path); err != nil {
				return err
			}
			sum, err := writeCopy(tx, d.copyPath(), d.opts.Copied, !d.opts.NoSync, keep)
			if err == nil && sum != keep {
				d.copied, d.copyTx = sum, tx.ID()
			}
			return err
		})
	})
	if err != nil {
		d.opts.Log.Warn("the second copy could not be written", "of", d.path, "error", err)
	}
}
