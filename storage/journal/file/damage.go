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

// replaceDamaged sets the damaged file aside, makes a new one of what can be read, and opens that.
// The journal must not be open.
func (f *File) replaceDamaged(cause *guard.DamageError) (err error) {
	d := Damage{Time: f.opts.Now().UTC(), Cause: fmt.Sprint(cause.Cause)}
	d.Aside, err = guard.Replace(f.path, d.Time, func(to string) (err error) {
		if d.Account, _, err = renew(f.path, to, d.Time); err != nil {
			err = fmt.Errorf("recover a damaged journal (%s): %w", d.Cause, err)
		}
		return err
	})
	if err != nil {
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
