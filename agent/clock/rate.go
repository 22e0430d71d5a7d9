package clock

import "time"

// An untrue clock may go for hours before it becomes true, and an oscillator that is 50 ppm off, as
// they are, is then wrong by 180 ms an hour: moving all records by one amount is not enough. So the
// oscillator's rate is measured while the clock is true, kept over restarts, and an era's scale
// goes by it. What is left is the change of the rate with temperature, some ppm.

const (
	// rateLeast is how long the clock must have been synchronised without a step for the rate to be
	// measured: NTP is a few milliseconds off over a network, so it is right to some ppm then, and
	// gets better.
	rateLeast = time.Hour
	// rateMost is the largest rate that can be true.
	rateMost = 1000e-6
)

// rating is a measurement under way. Of the goroutine of look.
type rating struct {
	began     bool
	wall      time.Time // when it began, by the wall clock and by the oscillator
	raw       time.Duration
	last, off time.Duration // the oscillator at the last look; of the wall clock to the boot time
}

// measure takes a reading of a true clock.
func (c *Clock) measure(r Reading) {
	m := &c.rating
	off := sinceEpoch(r.Wall) - r.Boot
	if !r.Synced || r.Raw == 0 || !m.began || (off-m.off).Abs() > nudgeMost || r.Raw < m.raw {
		*m = rating{began: r.Synced && r.Raw != 0, wall: r.Wall, raw: r.Raw, off: off}
		return
	}
	m.off = off
	if gone := r.Raw - m.raw; gone >= rateLeast {
		if rate := float64(r.Wall.Sub(m.wall)-gone) / float64(gone); rate < rateMost && rate > -rateMost {
			c.ledger.Rate = rate
		}
	}
}

// pace makes the scale of an untrue clock go by the oscillator's known rate. It is called at each
// look.
func (c *Clock) pace(r Reading) {
	m := &c.rating
	if c.ledger.Rate != 0 && m.last != 0 && r.Raw > m.last {
		gone := r.Raw - m.last
		c.setBase(c.currentBase() + gone + time.Duration(float64(gone)*c.ledger.Rate) - (r.Boot - c.lookedAt))
	}
	m.last = r.Raw
}
