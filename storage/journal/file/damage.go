package file

import (
	"fmt"
	"time"

	"vmsbridge/storage/guard"
)

// Damage tells of a damaged file that was set aside, and of what was carried into the new one.
type Damage struct {
	Time  time.Time
	Cause string // what was found first
	Aside string // path of the damaged file
	Account
}

func (d Damage) String() string {
	return fmt.Sprintf("journal was damaged (%s): recovered %d events, %d of them waiting to be reported and %d "+
		"parked; the damaged file is kept as %s",
		d.Cause, d.Events, d.Waiting, d.Parked, d.Aside)
}

// replaceDamaged makes a new file of what can be read, sets the damaged one aside, and opens the
// new one. The journal must not be open. Crash steps: (1) the new file is written beside it and
// synced; (2) the damaged one is renamed; (3) the new one is renamed. Before (2) a start begins
// anew, between (2) and (3) finishRecovery does (3).
func (f *File) replaceDamaged(cause *guard.DamageError) error {
	now := f.opts.Now().UTC()
	d := Damage{Time: now, Cause: fmt.Sprint(cause.Cause), Aside: guard.AsideName(f.path, now)}
	next := f.path + guard.RecoveringSuffix
	var err error
	if d.Account, _, err = renew(f.path, next, now); err != nil {
		return fmt.Errorf("recover a damaged journal (%s): %w", d.Cause, err)
	}
	if err := guard.Rename(f.path, d.Aside); err != nil {
		return err
	}
	if err := guard.Rename(next, f.path); err != nil {
		return err
	}
	if err := guard.Remove(f.path + LogSuffix); err != nil { // the new file has what is in it
		return err
	}
	if err := f.openDB(false); err != nil {
		return fmt.Errorf("open the recovered journal: %w", err)
	}
	f.damage = &d
	f.metrics.recoveries.Inc()
	f.log.Error("journal was damaged; it was set aside and recovered", "cause", d.Cause, "aside", d.Aside, "events",
		d.Events,
		"waiting", d.Waiting, "parked", d.Parked, "lost_pages", d.LostPages, "damaged_values", d.DamagedValues,
		"requeued", d.Requeued)
	guard.ForgetOldest(f.path, d.Aside)
	if f.opts.OnDamage != nil {
		f.opts.OnDamage(d)
	}
	return nil
}
