package stills

import (
	"fmt"
)

// Repair puts the ring in dir in order, so that Check finds nothing wrong, and says in
// Report.Repairs what it did. No other process may have the ring open. It never throws a readable
// still away, nor anything else: what it cannot use, it moves to the folder aside, where nobody
// looks but a person.
//
//   - A foreign file is moved aside, and a segment of which nothing can be read.
//   - A segment that was cut off, or has lost its ends, gets new ones.
//   - A segment that is lost is no longer told of.
//   - Damaged stretches of other segments are copied to files aside and marked as holding nothing;
//     a missing or wrong index is written anew from the records.
//
// Nothing is dropped for MaxBytes, MinFree or MaxAge here; the next Open sees to that. It needs
// room for what it copies: on a full disk it leaves such a segment as it is, and so it does one
// that the device does not give in full; the Report has its problem. Of the options, only
// SegmentBytes, MaxBytes (which bounds it), Log and FS matter. A *segment.VersionError, and a
// device that refuses to write, end it; it can be called again.
func Repair(dir string, opts Options) (Report, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return Report{}, fmt.Errorf("repair stills in %s: %w", dir, err)
	}
	before, err := check(opts.FS, dir) // before anything is changed
	if err != nil {
		return Report{}, fmt.Errorf("repair stills in %s: %w", dir, err)
	}
	m := newMender(opts.FS, dir)
	if err = m.InPlace(); err == nil {
		err = m.List(before)
	}
	if err == nil {
		err = reindex(dir, opts)
	}
	if err == nil {
		err = opts.FS.SyncDir(dir)
	}
	if err != nil {
		return Report{Repairs: m.Done}, fmt.Errorf("repair stills in %s: %w", dir, err)
	}
	rep, err := check(opts.FS, dir)
	rep.Repairs = m.Done
	return rep, err
}

// reindex opens the ring, which gives each full segment without an index one.
func reindex(dir string, o Options) error {
	o.MaxBytes, o.MinFree, o.MaxAge, o.Registerer, o.OnDamage = 1<<62, -1, 0, nil, nil
	r, err := Open(dir, o)
	if err != nil {
		return err
	}
	return r.Close()
}
