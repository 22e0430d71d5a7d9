package clock

import (
	"net/http"
	"time"
)

// Transport is next with an ear for the service: that it answers at all, and, where its certificate was verified, for the Date of
// its answers.
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

// hear takes an answer. Only the second's own limits come from a verified service: on the way, anyone could write another Date.
func (c *Clock) hear(res *http.Response, sent, came time.Duration) {
	c.heardMu.Lock()
	defer c.heardMu.Unlock()
	if !c.heard {
		c.heard, c.heardAt = true, came
	}
	if res.TLS == nil || !res.TLS.HandshakeComplete || res.Header.Get("Age") != "" { // what a cache kept is old
		return
	}
	if date, err := http.ParseTime(res.Header.Get("Date")); err == nil {
		c.dates.take(date, c.moment(sent), c.moment(came))
	}
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
	c.dates = bounds{}
}

// agrees says whether a wall time is what the service says, or nothing is known of that.
func (b *bounds) agrees(moment, wall time.Time) bool {
	by := wall.Sub(moment)
	return !b.known || by >= b.lo-dateSlack && by <= b.hi+dateSlack
}

// dateSlack is how far a plausible clock may be beside the service's.
const dateSlack = 5 * time.Second
