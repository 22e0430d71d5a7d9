package clock

import (
	"slices"
	"time"
)

// When an era's error is known, the stores are told, and from then on all that is recorded is true.
// What was recorded before gets its right time after that, some events at a time, so that recording
// goes on, from look to look; after a crash it is done again from where it was, by the ledger. Wait
// holds back whoever may only see true times until all is done.

// job is a settling under way.
type job struct {
	settling
	step      Step // to tell of when it is done; zero for an earlier boot's
	moved     int
	stills    bool  // they were moved, or stillsErr says why not
	stillsErr error // it is tried again at the next start
}

// settle makes the clock true: the scale is behind the true time by so much, and so is all that was
// recorded in this boot.
func (c *Clock) settle(by time.Duration, s Source) {
	by = by.Round(time.Millisecond)
	l := &c.ledger
	j := job{settling: settling{Era: l.Era, Shift: by}}
	l.Settling = append(l.Settling, j.settling)
	if err := c.save(); err != nil {
		l.Settling = l.Settling[:len(l.Settling)-1]
		c.retryAt = c.lookedAt + retryEvery
		c.log.Error("the clock is true, but it cannot be noted in bridge.data", "error", err)
		return
	}
	now := c.Now()
	c.stores.Announce(j.Era, by) // before anything gets a true time
	c.mu.Lock()
	c.scale.set(by)
	c.era, c.source, c.since, c.whyNot = 0, s, now.Add(by), ""
	c.unmoved = true
	j.step = c.noteStep(now.Add(by), by, s, 0)
	c.mu.Unlock()
	l.Era, l.True, l.Base = 0, s, c.currentBase()+by
	l.Ahead += by // from now on: of this boot's wall clock at its beginning, to the true time
	l.TrueAt = now.Add(by)
	c.stepped = false
	c.forget()
	// only of this era newer versions may be recorded meanwhile, and the store knows of one
	c.jobs = slices.Insert(c.jobs, 0, j)
	if err := c.save(); err != nil {
		c.log.Warn("the clock is true, but it cannot be noted", "error", err)
	}
	c.log.Info("the clock is true", "source", string(s), "by", by.String())
	c.work(c.lookedAt)
}

// busy says whether there is a piece of a job that can be done.
func (c *Clock) busy() bool { return len(c.jobs) > 0 && c.lookedAt >= c.retryAt }

// work does a piece of what there is to put right.
func (c *Clock) work(boot time.Duration) {
	if len(c.jobs) == 0 && c.State().Source != Waiting && len(c.ledger.Open) > 0 {
		c.placeEarlier()
	}
	if len(c.jobs) == 0 {
		return
	}
	j := &c.jobs[0]
	if !j.stills {
		j.stills, j.stillsErr = true, c.stores.SettleStills(j.Era, j.Shift)
		if j.stillsErr != nil {
			c.log.Error("stills of an untrue clock keep untrue times; it is tried again at the next start", "era",
				j.Era, "error", j.stillsErr)
		}
	}
	n, more, err := c.stores.SettleEvents(j.Era, j.Shift, j.Note)
	if err != nil {
		c.retryAt = boot + retryEvery
		c.log.Error("events of an untrue clock cannot be given their right times; it is tried again", "era", j.Era,
			"error", err)
		return
	}
	if j.moved += n; more {
		return
	}
	ended := *j
	c.jobs = slices.Delete(c.jobs, 0, 1)
	c.strike(ended, ended.stillsErr == nil)
	if err := c.save(); err != nil {
		c.log.Warn("that the events of an untrue clock have their right times cannot be noted", "error", err)
	}
	c.done(ended)
}

// strike takes a job out of the ledger. What could not be done with the stills stays in it, for the
// next start.
func (c *Clock) strike(j job, whole bool) {
	l := &c.ledger
	if whole {
		l.Settling = slices.DeleteFunc(l.Settling, func(x settling) bool { return x.Era == j.Era })
	}
	l.Open = slices.DeleteFunc(l.Open, func(e openEra) bool { return e.Era == j.Era })
}

// done tells of a job.
func (c *Clock) done(j job) {
	switch {
	case j.Note != nil && j.moved > 0:
		c.mu.Lock()
		c.unplaced += j.moved
		c.mu.Unlock()
		c.log.Warn("events of a boot that ended before the clock was true are placed roughly", "events", j.moved,
			"shift", j.Shift.String(), "slack", j.Note.Slack.String())
	case !j.step.At.IsZero():
		j.step.Events = j.moved
		c.mu.Lock()
		if c.lastStep.At.Equal(j.step.At) {
			c.lastStep.Events = j.moved
		}
		c.mu.Unlock()
		c.log.Info("the events of the untrue clock have their right times", "events", j.moved)
		c.tell(j.step)
	}
}

// resume takes up what a crash cut off. Its events need not be right before others are recorded:
// nothing that is recorded from now on is a newer version of one of them.
func (c *Clock) resume() {
	l := &c.ledger
	for _, s := range l.Settling {
		if err := c.stores.SettleStills(s.Era, s.Shift); err != nil {
			c.log.Error("stills of an untrue clock keep untrue times; it is tried again", "era", s.Era, "error", err)
		}
		if l.Era == s.Era {
			l.Era, l.True, l.Base, l.Ahead = 0, Set, l.Base+s.Shift, l.Ahead+s.Shift
		}
		c.jobs = append(c.jobs, job{settling: s})
	}
}
