package clock

import (
	"fmt"
	"time"
)

const (
	// stepLeast is by how much the wall clock and the boot time must part between two looks to be a
	// step.
	stepLeast = time.Second
	// nudgeMost is the largest difference that the scale follows little by little, a twentieth of
	// the time that passes.
	nudgeMost = 100 * time.Millisecond
	// rememberEvery is how often the latest true time is noted.
	rememberEvery = 10 * time.Minute
	// retryEvery is how long a store that refused what the clock wants of it is left alone.
	retryEvery = time.Second
)

// look reads the machine's clock, and does what follows of it. Open's and then Run's goroutine.
func (c *Clock) look() {
	r := c.m.Read()
	c.watch(r)
	if c.State().Source == Waiting {
		c.pace(r)
		c.judge(r)
	} else {
		c.follow(r)
		c.measure(r)
	}
	c.lookedAt = r.Boot
	if r.Boot >= c.retryAt {
		c.work(r.Boot)
	}
	if c.State().Source == Waiting {
		return
	}
	left := len(c.ledger.Open) > 0 || len(c.jobs) > 0
	if c.State().Unmoved != left {
		c.mu.Lock()
		c.unmoved = left
		c.mu.Unlock()
	}
	if !left {
		select {
		case <-c.open:
		default:
			close(c.open)
		}
	}
	c.remember(false)
}

// watch notices steps of the wall clock.
func (c *Clock) watch(r Reading) {
	off := sinceEpoch(r.Wall) - r.Boot
	if d := off - c.off; c.looked && d.Abs() >= stepLeast {
		c.stepped, c.stepAt = true, r.Boot
		c.log.Warn("the machine's clock was set", "by", d.Round(time.Millisecond).String(), "to",
			r.Wall.Format(time.RFC3339Nano), "synchronised", r.Synced)
	}
	c.looked, c.off = true, off
}

// judge decides whether a clock that was not true is true now.
func (c *Clock) judge(r Reading) {
	by := r.Wall.Sub(c.moment(r.Boot))
	if r.Boot < c.retryAt {
		return
	}
	if r.Synced {
		c.settle(by, Kernel)
		return
	}
	why := c.implausible(r)
	if why == "" && c.stepped && r.Boot-c.stepAt >= c.opts.Settle {
		c.settle(by, Set)
		return
	}
	if why == "" && c.borneOut(c.moment(r.Boot), r.Wall) {
		c.settle(by, Agreed)
		return
	}
	heard, at, dates := c.service()
	if c.patient(r, heard, at) {
		if why == "" {
			c.settle(by, Assumed)
			return
		}
		if middle, within := dates.middle(); dates.known && within <= time.Second {
			c.settle(middle, Service)
			return
		}
	} else if why == "" && c.opts.Alone {
		why = "it is not synchronised, and the machine has not been running for " + c.aloneWait().String()
	} else if why == "" {
		why = "it is not synchronised, and the service has not been answering for " + c.opts.Wait.String()
	}
	c.mu.Lock()
	c.whyNot = why
	c.mu.Unlock()
}

// patient tells whether it was waited for long enough for something better to vouch for the clock.
func (c *Clock) patient(r Reading, heard bool, since time.Duration) bool {
	if c.opts.Alone {
		return (r.Kept || r.Boot >= c.aloneWait()) && !(c.stepped && r.Boot-c.stepAt < c.opts.Settle)
	}
	return c.opts.Wait == 0 || heard && r.Boot-since >= c.opts.Wait
}

// aloneWait is how long the machine must have been running, where there is no service.
func (c *Clock) aloneWait() time.Duration { return min(c.opts.Wait, time.Minute) }

// implausible says why the wall clock cannot be true, or "".
func (c *Clock) implausible(r Reading) string {
	const form = "2006-01-02 15:04"
	_, _, dates := c.service()
	switch {
	case r.Wall.Before(c.opts.Built):
		return fmt.Sprintf("it shows %s, when this program was not made yet", r.Wall.Format(form))
	case r.Wall.Before(c.ledger.TrueAt.Add(-time.Minute)):
		return fmt.Sprintf("it shows %s, but it has been %s already", r.Wall.Format(form), c.ledger.TrueAt.Format(form))
	case !dates.agrees(c.moment(r.Boot), r.Wall, dateSlack):
		return fmt.Sprintf("it shows %s, and the service says otherwise", r.Wall.Format(form))
	}
	return ""
}

// follow goes after the wall clock, as far as it is to be believed.
func (c *Clock) follow(r Reading) {
	moment := c.moment(r.Boot)
	c.mu.RLock()
	by, source := c.scale.by(), c.source
	c.mu.RUnlock()
	diff := r.Wall.Sub(moment) - by
	switch {
	case diff.Abs() < nudgeMost:
		limit := max(r.Boot-c.lookedAt, 0) / 20
		if c.lookedAt == 0 {
			limit = 0
		}
		c.setBase(c.currentBase() + min(max(diff, -limit), limit))
		if r.Synced {
			c.setSource(Kernel)
		}
		c.stepped = false
		c.setBeside(0)
		return
	case r.Synced:
		c.step(moment, diff, Kernel)
		return
	}
	// Somebody set the clock. Where the kernel had vouched for it, that has to last; the scale goes
	// on meanwhile.
	patience := c.opts.Settle
	if source == Kernel {
		patience = max(patience, c.opts.Wait)
	}
	if c.stepped && r.Boot-c.stepAt >= patience && c.implausible(r) == "" {
		c.step(moment, diff, Set)
		return
	}
	c.setBeside(diff)
}

// step says that from a moment on the true time is another one. What was recorded before keeps its
// time.
func (c *Clock) step(moment time.Time, diff time.Duration, s Source) {
	c.mu.Lock()
	c.scale.step(moment, diff)
	c.source, c.beside = s, 0
	step := c.noteStep(c.scale.at(moment), diff, s, 0)
	base := c.currentBase() + c.scale.by()
	c.mu.Unlock()
	c.stepped = false
	c.ledger.Base, c.ledger.True, c.ledger.TrueAt = base, s, step.At
	if err := c.save(); err != nil {
		c.log.Warn("a step of the clock cannot be noted", "error", err)
	}
	c.log.Warn("the time steps", "by", diff.String(), "source", string(s))
	c.tell(step)
}

func (c *Clock) setSource(s Source) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.source = s
}

func (c *Clock) setBeside(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.beside = by
}

// noteStep counts a step of more than a second. c.mu is held.
func (c *Clock) noteStep(at time.Time, by time.Duration, s Source, events int) Step {
	step := Step{at, by, s, events}
	if by.Abs() >= stepLeast {
		c.steps++
		c.lastStep = step
	}
	return step
}

func (c *Clock) tell(s Step) {
	if s.By.Abs() >= stepLeast && c.opts.Stepped != nil {
		c.opts.Stepped(s)
	}
}

// remember notes the latest true time now and then, and at the end.
func (c *Clock) remember(now bool) {
	if c.State().Source == Waiting || !now && c.savedAt != 0 && c.lookedAt-c.savedAt < rememberEvery {
		return
	}
	c.savedAt = c.lookedAt
	c.mu.RLock()
	c.ledger.TrueAt = c.scale.at(c.Now())
	c.ledger.Base = c.currentBase() + c.scale.by()
	c.mu.RUnlock()
	if err := c.save(); err != nil {
		c.log.Warn("the time cannot be noted", "error", err)
	}
}
