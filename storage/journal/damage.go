package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"vmsbridge/storage/journal/guard"
	"vmsbridge/storage/journal/salvage"
)

// Damage tells of a damaged file that was set aside, and of what was carried into the new one.
type Damage struct {
	Time  time.Time
	Cause string // what was found first
	Aside string // path of the damaged file
	salvage.Account
}

func (d Damage) String() string {
	return fmt.Sprintf("journal was damaged (%s): recovered %d events, %d of them waiting to be reported and %d parked; the damaged file is kept as %s",
		d.Cause, d.Events, d.Waiting, d.Parked, d.Aside)
}

const (
	recoveringSuffix = ".recovering"
	damagedInfix     = ".damaged-"
	// keptDamaged is how many files set aside are kept, the newest ones, so that a bad disk does not fill itself.
	keptDamaged = 2
)

// replaceDamaged makes a new file of what can be read, sets the damaged one aside, and opens the new one. The journal must
// not be open. Crash steps: (1) the new file is written beside it and synced; (2) the damaged one is renamed; (3) the new
// one is renamed. Before (2) a start begins anew, between (2) and (3) finishRecovery does (3).
func (j *Journal) replaceDamaged(cause *guard.DamageError) error {
	now := j.opts.Now().UTC()
	d := Damage{Time: now, Cause: fmt.Sprint(cause.Cause), Aside: asideName(j.path, now)}
	next := j.path + recoveringSuffix
	var err error
	if d.Account, err = renew(j.path, next, now); err != nil {
		return fmt.Errorf("recover a damaged journal (%s): %w", d.Cause, err)
	}
	if err := rename(j.path, d.Aside); err != nil {
		return err
	}
	if err := rename(next, j.path); err != nil {
		return err
	}
	if err := j.openDB(); err != nil {
		return fmt.Errorf("open the recovered journal: %w", err)
	}
	j.damage = &d
	j.metrics.recoveries.Inc()
	j.log.Error("journal was damaged; it was set aside and recovered", "cause", d.Cause, "aside", d.Aside, "events", d.Events,
		"waiting", d.Waiting, "parked", d.Parked, "lost_pages", d.LostPages, "damaged_values", d.DamagedValues, "requeued", d.Requeued)
	forgetOldest(j.path, d.Aside)
	if j.opts.OnDamage != nil {
		j.opts.OnDamage(d)
	}
	return nil
}

// asideName is a name beside path that nothing has yet.
func asideName(path string, now time.Time) string {
	name := path + damagedInfix + now.Format("20060102T150405.000Z")
	for i := 1; ; i++ {
		if _, err := os.Lstat(name); errors.Is(err, os.ErrNotExist) {
			return name
		}
		name = fmt.Sprintf("%s%s%s-%d", path, damagedInfix, now.Format("20060102T150405.000Z"), i)
	}
}

// forgetOldest removes all but the newest files set aside; newest is one of them, whatever the clock says. Trouble with it
// is not worth a failure.
func forgetOldest(path, newest string) {
	des, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return
	}
	var names []string
	for _, de := range des {
		if strings.HasPrefix(de.Name(), filepath.Base(path)+damagedInfix) && de.Name() != filepath.Base(newest) {
			names = append(names, de.Name())
		}
	}
	slices.Sort(names)
	for len(names) > keptDamaged-1 {
		os.Remove(filepath.Join(filepath.Dir(path), names[0]))
		names = names[1:]
	}
}
