package reporter

import (
	"errors"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/cenkalti/backoff/v5"

	"vmsbridge/uplink/vms"
)

// fault says who a failure is put down to.
type fault int

const (
	ofService fault = iota // everything waits
	ofToken                // everything waits, longer
	ofEvent                // its actor waits
)

func (f fault) String() string { return [...]string{"service", "token", "event"}[f] }

// faultOf judges the errors of Sender that are no refusals.
func faultOf(err error) fault {
	var unauthorized *vms.UnauthorizedError
	var forbidden *vms.ForbiddenError
	var transient *vms.TransientError
	switch {
	case errors.As(err, &unauthorized):
		return ofToken
	case errors.As(err, &forbidden):
		return ofEvent
	case errors.As(err, &transient) && transient.Own:
		switch transient.Code {
		case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			return ofService
		}
		return ofEvent
	}
	return ofService
}

// gate lets events through while the service takes them. After a failure it is closed for a while, then lets one event
// through to see.
type gate struct {
	pauses       *backoff.ExponentialBackOff
	authPause    time.Duration
	until        time.Time // closed before
	soonest      time.Time // what is new may open it from then on; zero: it may not
	since        time.Time // of the first failure
	failures     int       // in a row
	epoch        int       // counts closings: failures of lanes that started before one are the same failure
	unauthorized bool
	loggedAt     time.Time
}

func newGate(o Options) gate { return gate{pauses: pauses(o), authPause: o.AuthPause} }

func pauses(o Options) *backoff.ExponentialBackOff {
	b := backoff.NewExponentialBackOff()
	b.InitialInterval, b.MaxInterval = o.FirstPause, o.MaxPause
	b.Multiplier, b.RandomizationFactor = 2, 0.25
	b.Reset()
	return b
}

func (g *gate) closed(now time.Time) bool { return now.Before(g.until) }
func (g *gate) probing() bool             { return g.failures > 0 }

// probe says how many actors are passed over: another one goes ahead each time, since it may be one event that brings the service, or
// what stands before it, to answer as if all were lost.
func (g *gate) probe() int { return max(g.failures-1, 0) }

// choose is the event that goes ahead. Once the trouble is older than stuckAfter it is every other time the one behind the
// first, for the same reason.
func (g *gate) choose(list []uint64, now time.Time, stuckAfter time.Duration) []uint64 {
	if len(list) > 1 && now.Sub(g.since) >= stuckAfter && g.failures%2 == 1 {
		return list[1:2]
	}
	return list[:1]
}

// limit is how many lanes may run at this moment.
func (g *gate) limit(now time.Time, most int) int {
	switch {
	case g.closed(now):
		return 0
	case g.probing():
		return 1
	}
	return most
}

// open ends the trouble and says how long it took.
func (g *gate) open() (time.Duration, int) {
	n := g.failures
	if n == 0 {
		return 0, 0
	}
	down := time.Since(g.since)
	g.failures, g.until, g.soonest, g.unauthorized, g.loggedAt = 0, time.Time{}, time.Time{}, false, time.Time{}
	g.pauses.Reset()
	return down, n
}

// logEvery is how often an outage is mentioned while it lasts.
const logEvery = 5 * time.Minute

// close begins a wait. closed is false if it had begun already; loud says whether to log it: Options.Greet does so itself. It is also
// soon called again after a 401, since a person who signs the bridge in looks whether that helps.
func (g *gate) close(res result, f fault, now time.Time) (closed, loud bool) {
	if res.epoch != g.epoch {
		return false, false // a lane that was under way when the gate closed
	}
	g.epoch++
	if g.failures == 0 {
		g.since = now
	}
	g.failures++
	g.unauthorized = f == ofToken
	pause := min(g.pauses.NextBackOff(), g.pauses.MaxInterval)
	if f == ofToken && !res.greeting {
		pause = g.authPause + rand.N(g.authPause) //nolint:gosec // jitter
	}
	g.until = now.Add(max(pause, askedPause(res.err)))
	if loud = !res.greeting && now.Sub(g.loggedAt) >= logEvery; loud {
		g.loggedAt = now
	}
	g.soonest = time.Time{}
	if f == ofService && unreachable(res.err) {
		g.soonest = now.Add(g.pauses.InitialInterval * 3 / 4)
	}
	return true, loud
}

// hurry shortens a long pause because something new happened: that shall not wait until the pause is over if the service is back. A
// service that asks to wait is not hurried, nor one that is there and has trouble.
func (g *gate) hurry() {
	if !g.soonest.IsZero() && g.soonest.Before(g.until) {
		g.until = g.soonest
	}
}

// unreachable says whether an error means that the service could not be reached, or that what stands before it could not.
func unreachable(err error) bool {
	var t *vms.TransientError
	return errors.As(err, &t) && t.RetryAfter == 0 &&
		(t.Code == 0 || t.Code == http.StatusBadGateway || t.Code == http.StatusGatewayTimeout)
}

// askedPause is how long the service asks to wait.
func askedPause(err error) time.Duration {
	var t *vms.TransientError
	if errors.As(err, &t) {
		return t.RetryAfter
	}
	return 0
}

// blame finds the events for which the service seems to be away though it takes others: by id, how often each has
// stopped everything.
type blame map[string]*charge

type charge struct {
	times  int
	before uint64 // events taken when it failed first
}

const (
	blameAfter = 3    // times that an event must have stopped everything to be held back alone
	maxCharged = 1024 // an outage charges the first event of each actor; what is innocent is forgotten with the rest
)

// again notes that an event failed as if the service were away. It is true if that is rather the event's fault.
func (b blame) again(id string, taken uint64) bool {
	c := b[id]
	if c == nil {
		if len(b) >= maxCharged {
			clear(b)
		}
		c = &charge{before: taken}
		b[id] = c
	}
	c.times++
	return c.times >= blameAfter && taken > c.before
}

// trouble is an event that fails while the service may be well. Its actor waits for it.
type trouble struct {
	id          string
	place       uint64
	first       time.Time
	takenBefore uint64 // events taken when it first failed
	until       time.Time
	failures    int
	forbidden   bool
	steppedOver bool // the try under way is of the event behind it
	pauses      *backoff.ExponentialBackOff
}

func newTrouble(e Entry, taken uint64, o Options) *trouble {
	return &trouble{id: e.Event.ID, place: e.Place, first: time.Now(), takenBefore: taken, pauses: pauses(o)}
}

func (t *trouble) pause(err error, o Options) {
	t.failures++
	var forbidden *vms.ForbiddenError
	t.forbidden = errors.As(err, &forbidden)
	pause := min(t.pauses.NextBackOff(), t.pauses.MaxInterval)
	if t.forbidden {
		pause = max(pause, o.AuthPause)
	}
	t.until = time.Now().Add(max(pause, askedPause(err)))
}

// again ends the pause, so that the event itself is tried next.
func (t *trouble) again() { t.failures, t.until, t.steppedOver = t.failures+1, time.Time{}, false }

// choose says what to send of an actor in trouble: the event itself, or every other time once its time is over the one
// behind it, to find out whose fault it is.
func (t *trouble) choose(list []uint64, now time.Time, stuckAfter time.Duration) []uint64 {
	t.steppedOver = len(list) > 1 && list[0] == t.place && now.Sub(t.first) >= stuckAfter && t.failures%2 == 1
	if t.steppedOver {
		return list[1:2]
	}
	return list[:1]
}
