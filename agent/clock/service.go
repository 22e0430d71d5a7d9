package clock

import (
	"net/http"
	"time"
)

// Transport is next with an ear for the service: that it answers at all, and, where its certificate
// was verified, for the Date of its answers.
func (c *Clock) Transport(next http.RoundTripper) http.RoundTripper { return listener{c, next} }

type listener struct {
	clock *Clock
	next  http.RoundTripper
}

func (l listener) RoundTrip(req *http.Request) (*http.Response, error) {
	sent := l.clock.m.Boot()
	res, err := l.next.RoundTrip(req)
	if err == nil {
		l.clock.hear(res, sent, l.clock.m.Boot())
	}
	return res, err
}

// CloseIdleConnections lets http.Client.CloseIdleConnections reach the transport.
func (l listener) CloseIdleConnections() {
	if n, ok := l.next.(interface{ CloseIdleConnections() }); ok {
		n.CloseIdleConnections()
	}
}

// hear takes an answer. What time it is comes from a verified service only, for on the way anyone
// could write another Date; but any answer may bear out a clock that is plausible in itself.
func (c *Clock) hear(res *http.Response, sent, came time.Duration) {
	c.heardMu.Lock()
	defer c.heardMu.Unlock()
	if !c.heard {
		c.heard, c.heardAt = true, came
	}
	date, err := http.ParseTime(res.Header.Get("Date"))
	if err != nil || res.Header.Get("Age") != "" { // what a cache kept is old
		return
	}
	c.anyDates.take(date, c.moment(sent), c.moment(came))
	if res.TLS != nil && res.TLS.HandshakeComplete {
		c.dates.take(date, c.moment(sent), c.moment(came))
	}
}

// borneOut says whether the service shows the same time as a wall clock, to about a second.
func (c *Clock) borneOut(moment, wall time.Time) bool {
	c.heardMu.Lock()
	defer c.heardMu.Unlock()
	return c.anyDates.known && c.anyDates.agrees(moment, wall, agreeSlack)
}

// service is since when the service answers, and how far the scale is behind it.
func (c *Clock) service() (heard bool, at time.Duration, dates bounds) {
	c.heardMu.Lock()
	defer c.heardMu.Unlock()
	return c.heard, c.heardAt, c.dates
}

// forget begins the bounds anew, after the base has moved.
func (c *Clock) forget() {
	c.heardMu.Lock()
	defer c.heardMu.Unlock()
	c.dates, c.anyDates = bounds{}, bounds{}
}

// agrees says whether a wall time is what the service says, or nothing is known of that.
func (b *bounds) agrees(moment, wall time.Time, slack time.Duration) bool {
	by := wall.Sub(moment)
	return !b.known || by >= b.lo-slack && by <= b.hi+slack
}

const (
	// dateSlack is how far a plausible clock may be beside the service's.
	dateSlack = 5 * time.Second
	// agreeSlack is how far it may be beside it to be borne out by it.
	agreeSlack = 500 * time.Millisecond
)
