package clock

import (
	"fmt"
	"time"
)

// Open takes up what earlier runs noted, and decides which times those of this run begin with. It
// comes after the stores are open and before anything is recorded, once. m must be the stores' own,
// so that it is as durable as they are.
//
// In the same boot the scale goes on where it was. In another one, an untrue clock that is behind
// what the bridge already knew does not make the records begin there: they begin right after it, so
// that they are in order even before they are put right.
func (c *Clock) Open(m Memory, s Stores) error {
	c.memory, c.stores = m, s
	if err := c.load(); err != nil {
		return err
	}
	l := &c.ledger
	c.resume()
	c.knownBefore = l.TrueAt
	r := c.m.Read()
	c.watch(r)
	boot := c.m.BootID()
	base := sinceEpoch(r.Wall) - r.Boot
	switch same := boot != "" && boot == l.Boot; {
	case same && l.True != Waiting && !r.Synced:
		c.become(l.True, l.Base)
		if off := base - l.Base; off > time.Second || off < -time.Second {
			c.stepped, c.stepAt = true, r.Boot // while the bridge did not run
		}
	case same && l.Era != 0:
		c.setBase(l.Base)
		if l.Rate != 0 && r.Raw > l.BaseRaw && l.BaseRaw != 0 { // it went by that meanwhile
			c.rating.last, c.lookedAt = l.BaseRaw, l.BaseBoot
			c.pace(r)
		}
	case r.Synced:
		c.retireEra()
		c.become(Kernel, base)
	default:
		c.retireEra()
		l.True, l.Ahead = Waiting, 0
		if (c.opts.Wait == 0 || c.opts.Alone) && c.patient(r, false, 0) && c.implausible(r) == "" {
			c.become(Assumed, base)
			break
		}
		latest, err := c.latest()
		if err != nil {
			return err
		}
		if behind := latest.Sub(r.Wall); behind > 0 {
			l.Ahead = behind + time.Second
		}
		l.Count = l.Count%(1<<24-1) + 1
		l.Era = l.Count
		c.setBase((base + l.Ahead).Round(time.Millisecond))
	}
	l.Boot, l.Base, l.BaseBoot, l.BaseRaw = boot, c.currentBase(), r.Boot, r.Raw
	c.lookedAt, c.rating.last = r.Boot, r.Raw
	c.mu.Lock()
	c.unmoved = true // until the first look
	c.era, c.since = l.Era, c.moment(r.Boot)
	c.mu.Unlock()
	if err := c.save(); err != nil {
		return err
	}
	if l.Era != 0 {
		c.log.Warn("the clock is not known to be true; events wait, and get their right times when it is", "wall",
			r.Wall.Format(time.RFC3339), "era", l.Era)
	}
	c.look()
	return nil
}

// retireEra keeps the era of an earlier boot for later: it ended without a true time.
func (c *Clock) retireEra() {
	l := &c.ledger
	if l.Era != 0 {
		l.Open = append(l.Open, openEra{l.Era, l.Ahead})
	}
	l.Era = 0
}

// become says that the clock is true from the start on.
func (c *Clock) become(s Source, base time.Duration) {
	c.setBase(base)
	c.ledger.Era, c.ledger.True = 0, s
	c.mu.Lock()
	c.source = s
	c.mu.Unlock()
}

func (c *Clock) setBase(base time.Duration) {
	c.baseMu.Lock()
	defer c.baseMu.Unlock()
	c.base = base
}

func (c *Clock) currentBase() time.Duration {
	c.baseMu.Lock()
	defer c.baseMu.Unlock()
	return c.base
}

// latest is the latest time that stands in what is known and what is recorded with untrue times.
func (c *Clock) latest() (time.Time, error) {
	latest := c.ledger.TrueAt
	for _, e := range c.ledger.Open {
		_, to, ok, err := c.stores.Extent(e.Era)
		if err != nil {
			return latest, fmt.Errorf("look for what was recorded under an untrue clock: %w", err)
		}
		if ok && to.After(latest) {
			latest = to
		}
	}
	return latest, nil
}
