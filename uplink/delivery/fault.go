package delivery

import (
	"math/rand/v2"
	"time"

	"github.com/cenkalti/backoff/v5"

	"vmsbridge/uplink/vms"
)

// gate lets events through while the sink takes them. After a failure it is closed for a while,
// then lets one event through to see.
type gate struct {
	opts         Options
	pauses       *backoff.ExponentialBackOff
	until        time.Time // closed before
	soonest      time.Time // what is new may open it from then on; zero: it may not
	since        time.Time // of the first failure
	opened       time.Time
	failures     int  // in a row
	epoch        int  // counts closings: failures of lanes that started before one are the same failure
	byEvent      bool // the sink failed at an event: one goes ahead, even if the sink can be opened
	unauthorized bool
	loggedAt     time.Time
	logged       string // the hint that was logged
}

func newGate(o Options) gate { return gate{opts: o, pauses: pauses(o)} }

func pauses(o Options) *backoff.ExponentialBackOff {
	b := backoff.NewExponentialBackOff()
	b.InitialInterval, b.MaxInterval = o.FirstPause, o.MaxPause
	b.Multiplier, b.RandomizationFactor = 2, 0.25
	b.Reset()
	return b
}

func (g *gate) closed(now time.Time) bool { return now.Before(g.until) }
func (g *gate) probing() bool             { return g.failures > 0 }

// probe says how many lanes are passed over: another one goes ahead each time, since it may be one
// event that brings the sink, or what stands before it, to answer as if all were lost.
func (g *gate) probe() int { return max(g.failures-1, 0) }

// choose is the event that goes ahead. Once the trouble is older than StuckAfter it is every other
// time the one behind the first, for the same reason.
func (g *gate) choose(list []uint64, now time.Time) []uint64 {
	if !g.opts.Strict && len(list) > 1 && now.Sub(g.since) >= g.opts.StuckAfter && g.failures%2 == 1 {
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
	*g = gate{opts: g.opts, pauses: g.pauses, epoch: g.epoch, opened: time.Now()}
	return down, n
}

// logEvery is how often an outage is mentioned while it lasts, and how often a refused event.
const logEvery = 5 * time.Minute

// close begins a wait. closed is false if it had begun already; loud says whether to log it: a
// failure to open is told as Options.Open sees fit, if it has no hint. After OfToken it is also
// soon opened again, since a person who signs the bridge in looks whether that helps.
func (g *gate) close(res result, now time.Time) (closed, loud bool) {
	g.byEvent = g.byEvent || res.failed != nil
	if res.epoch != g.epoch {
		return false, false // a lane that was under way when the gate closed
	}
	g.epoch++
	if g.failures == 0 {
		g.since = now
		if now.Sub(g.opened) >= g.opts.Lasting {
			g.pauses.Reset()
		}
	}
	g.failures++
	v := res.verdict
	g.unauthorized = v.Kind == OfToken
	pause := min(g.pauses.NextBackOff(), g.pauses.MaxInterval)
	if v.Kind == OfToken && !res.opening && g.opts.AuthPause > 0 {
		pause = g.opts.AuthPause + rand.N(g.opts.AuthPause) //nolint:gosec // jitter
	}
	g.until = now.Add(max(pause, v.After))
	loud = (!res.opening || v.Hint != "") && (now.Sub(g.loggedAt) >= logEvery || v.Hint != g.logged)
	if loud {
		g.loggedAt, g.logged = now, v.Hint
	}
	g.soonest = time.Time{}
	if v.Kind == OfSink && v.Unreachable && v.After == 0 {
		g.soonest = now.Add(g.pauses.InitialInterval * 3 / 4)
	}
	return true, loud
}

// shortenPause shortens a long pause because something new happened: that shall not wait until the
// pause is over if the sink is back. The pause of a sink that asks to wait, or that answers with
// errors, stays as it is.
func (g *gate) shortenPause() {
	if !g.soonest.IsZero() && g.soonest.Before(g.until) {
		g.until = g.soonest
	}
}

// blame finds the events for which the sink seems to be away though it takes others: by id, how
// often each has stopped everything.
type blame map[string]struct {
	times  int
	before uint64 // what was taken when it failed first
}

const (
	blameAfter = 3    // times that an event must have stopped everything to be held back alone
	maxCharged = 1024 // an outage charges the first event of each lane; what is innocent is forgotten with the rest
)

// again notes that an event failed as if the sink were away. It is true if that is rather the
// event's fault.
func (b blame) again(id string, taken uint64) bool {
	c, known := b[id]
	if !known {
		if len(b) >= maxCharged {
			clear(b)
		}
		c.before = taken
	}
	c.times++
	b[id] = c
	return c.times >= blameAfter && taken > c.before
}

// retryState is an event that fails while the sink may be well. Its lane waits for it.
type retryState struct {
	id          string
	place       uint64
	first       time.Time
	taken       uint64 // what was taken when it failed last
	proofs      int    // failures since each of which before something else was taken
	until       time.Time
	failures    int
	own         bool // the sink answered about the event
	forbidden   bool
	steppedOver bool // the try under way is of the event behind it
	pauses      *backoff.ExponentialBackOff
}

func newRetryState(e vms.Queued, taken uint64, o Options) *retryState {
	return &retryState{id: e.Event.ID, place: e.Place, first: time.Now(), taken: taken, pauses: pauses(o)}
}

// stuck notes a failure of the event itself, and says whether it has had its time.
func (t *retryState) stuck(v Verdict, taken uint64, o Options) bool {
	if t.own = v.Kind == OfEvent; taken > t.taken {
		t.proofs++
		t.taken = taken
	}
	return t.proofs >= o.Proofs && time.Since(t.first) >= o.StuckAfter
}

func (t *retryState) pause(v Verdict, o Options) {
	t.failures++
	t.forbidden = v.Forbidden
	pause := min(t.pauses.NextBackOff(), t.pauses.MaxInterval)
	if t.forbidden {
		pause = max(pause, o.AuthPause)
	}
	t.until = time.Now().Add(max(pause, v.After))
}

// again ends the pause, so that the event itself is tried next.
func (t *retryState) again() { t.failures, t.until, t.steppedOver = t.failures+1, time.Time{}, false }

// choose says what to send of a lane in trouble: the event itself, or every other time once its
// time is over the one behind it, to find out whose fault it is. alone says whether nothing of
// another lane waits.
func (t *retryState) choose(list []uint64, now time.Time, o Options, alone func() bool) []uint64 {
	t.steppedOver = len(list) > 1 && list[0] == t.place && now.Sub(t.first) >= o.StuckAfter && t.failures%2 == 1 &&
		(!o.Strict || t.own && alone())
	if t.steppedOver {
		return list[1:2]
	}
	return list[:1]
}
