package clock

import (
	"time"
)

// placeEarlier begins to give the records of the latest of the earlier boots that ended without a
// true time the best times there are.
//
// They lie between the latest time that was known to be true and the next boot's beginning. If
// their clock was wrong by as much as this boot's was at its beginning, as one with a battery but
// never set right is, and that brings them between the two, that is it. Else they are placed as
// late as possible: the next boot mostly follows the power cut within seconds. Either way their
// events say by how much they may be too late, and are counted.
func (c *Clock) placeEarlier() {
	l := &c.ledger
	e := l.Open[len(l.Open)-1]
	from, to, ok, err := c.stores.Extent(e.Era)
	j := job{settling: settling{Era: e.Era, Note: &Note{}}}
	if ok {
		if c.placed.IsZero() {
			c.placed = c.True(c.moment(0))
		}
		by, note := place(from, to, c.knownBefore, c.placed, l.Ahead-e.Ahead)
		j.Shift, j.Note = by, &note
		c.placed = from.Add(by)
	}
	l.Settling = append(l.Settling, j.settling)
	if err == nil {
		err = c.save()
	}
	if err != nil {
		l.Settling = l.Settling[:len(l.Settling)-1]
		c.retryAt = c.lookedAt + retryEvery
		c.log.Error("what was recorded under an untrue clock cannot be placed; it is tried again", "era", e.Era,
			"error", err)
		return
	}
	c.jobs = append(c.jobs, j)
}

// place says by how much records of from to to are to be moved, between lower (zero: not known) and
// upper. like is what the clock of this boot was wrong by.
func place(from, to, lower, upper time.Time, like time.Duration) (by time.Duration, n Note) {
	by = upper.Sub(to)
	if fits := !from.Add(like).Before(lower) && !to.Add(like).After(upper); fits {
		by, n.SameClock = like, true
	}
	by = by.Round(time.Millisecond)
	n.Slack = -1
	if !lower.IsZero() {
		n.Slack = max(0, from.Add(by).Sub(lower)).Round(time.Millisecond)
	}
	return by, n
}
