package delivery

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vmsbridge/uplink/vms"
)

// Store is what waits for one sink. Its methods are safe for concurrent use.
type Store interface {
	// Scan calls visit with the places and lanes of up to n entries behind a place, oldest first.
	// Fewer mean that there are no more. The events of one lane go one after the other.
	Scan(after uint64, n int, visit func(place uint64, lane string)) error
	// LastPlace is a place such that whatever is put later stands behind it.
	LastPlace() (uint64, error)
	// Load reads the entries at these places as they are now, in their order, without those that
	// have left.
	Load(places []uint64) ([]vms.Queued, error)
	// AckAll removes entries, those apart that were renewed since: it returns their places. Of
	// their events only the ids are there.
	AckAll(list []vms.Queued) (renewed []uint64, err error)
	// Park sets an entry aside for good, with the reason, if it was not renewed since.
	Park(id string, revision uint64, reason string) error
	// Changed has a value after something was put.
	Changed() <-chan struct{}
}

// Sink is where events go.
type Sink interface {
	// Send hands over entries of one lane in their order. The verdicts are of as many of them, from
	// the first on, as it came to; what follows one that is neither Taken, Passed nor Refused was
	// not tried. It returns soon once ctx is done.
	Send(ctx context.Context, list []vms.Queued) []Verdict
}

// Kind says what became of an attempt to hand an event over, and so what follows.
type Kind int

// Kinds of verdicts.
const (
	Taken   Kind = iota // the sink has it
	Passed              // there was nothing to hand over
	Refused             // the sink will never take it: it is parked
	OfEvent             // it goes again later; the events of its lane wait
	OfSink              // it goes again later; everything waits
	OfToken             // everything waits, Options.AuthPause at least: a person must act
)

// String is the value of the label fault in metrics.
func (k Kind) String() string {
	return [...]string{"taken", "passed", "refused", "event", "service", "token"}[k]
}

// Done says whether an event with this verdict does not go again.
func (k Kind) Done() bool { return k <= Refused }

// Verdict is what an attempt came to.
type Verdict struct {
	Kind        Kind
	Err         error         // why it was not taken; it holds no secret
	Hint        string        // what a person can do, "" for nothing
	After       time.Duration // how long the sink asks to wait
	Unreachable bool          // the sink was not there: something new is tried soon, as it may be back
	Forbidden   bool          // a permission is missing; the event waits AuthPause at least
}

// Options of New. The zero value is right for the service.
type Options struct {
	// Concurrency is how many lanes are served at once; 0 means 16. Each costs a round trip and a
	// commit at the service, which shares commits between requests that wait together.
	Concurrency int
	// AtOnce is how many events the sink takes at once now; nil: one.
	AtOnce func() int
	// Turn is how many events of a lane go before others get theirs; 0 means 1024.
	Turn int
	// Window is how many places of what waits are known at a time; 0 means 65536.
	Window int
	// FirstPause and MaxPause bound the wait after a failure; 0 means 1 s and 15 s. AuthPause is
	// the wait after OfToken, up to twice as long; 0 means that it is a failure like others.
	FirstPause, MaxPause, AuthPause time.Duration
	// Lasting is how long all must have gone well for the next pause to be FirstPause again.
	Lasting time.Duration
	// StuckAfter is how long an event must have failed, Proofs times since others were taken, to be
	// parked; 0 means 1 h and once.
	StuckAfter time.Duration
	Proofs     int
	// Overtake is how long a backlog may take after the sink is back before what is new goes ahead
	// of it; 0 means 1 s.
	Overtake time.Duration
	// Strict keeps the order of each lane: nothing overtakes, and what stands behind an event that
	// fails is tried only where the sink answers about that event, and there is no other lane to
	// tell whose fault it is.
	Strict bool
	// Drain is how long requests under way may take once Run's context is done; 0 means 5 s. With
	// DrainWaiting what waits is handed over in that time too, as far as it goes.
	Drain        time.Duration
	DrainWaiting bool
	// Open is called before the first event is sent, and again after lost had a value; until it
	// returns Taken it is called again and again. nil: there is nothing to open. A nil lost never
	// has a value.
	Open    func(context.Context) (lost <-chan Verdict, v Verdict)
	Log     *slog.Logger // nil: nothing is logged
	Kept    string       // the end of the log line about a refused event: where to find it
	Metrics *Metrics     // nil: nothing is counted
}

// Metrics count what became of events.
type Metrics struct {
	Sent, Refused prometheus.Counter
	Failed        func(Kind) prometheus.Counter
}

// Engine takes events from one store to one sink. Run it once; Status may be called at any time.
type Engine struct {
	store   Store
	sink    Sink
	opts    Options
	log     *slog.Logger
	metrics *Metrics

	mu        sync.Mutex // guards what follows
	status    Status
	refusedAt time.Time // when a refusal was logged
}

// New makes an engine. It starts nothing.
func New(store Store, sink Sink, o Options) *Engine {
	o.Concurrency, o.Turn, o.Window = or(o.Concurrency, 16), or(o.Turn, 1024), or(o.Window, 1<<16)
	o.FirstPause, o.MaxPause = or(o.FirstPause, time.Second), or(o.MaxPause, 15*time.Second)
	o.StuckAfter, o.Proofs = or(o.StuckAfter, time.Hour), or(o.Proofs, 1)
	o.Drain, o.Overtake = or(o.Drain, 5*time.Second), or(o.Overtake, time.Second)
	if o.AtOnce == nil {
		o.AtOnce = func() int { return 1 }
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Metrics == nil {
		c := prometheus.NewCounter(prometheus.CounterOpts{})
		o.Metrics = &Metrics{Sent: c, Refused: c, Failed: func(Kind) prometheus.Counter { return c }}
	}
	return &Engine{store: store, sink: sink, opts: o, log: o.Log, metrics: o.Metrics, status: Status{State: Idle}}
}

func or[T comparable](v, fallback T) T {
	var zero T
	if v == zero {
		return fallback
	}
	return v
}

// State says in a word how delivery goes.
type State string

// The states of an engine.
const (
	Idle         State = "idle"         // nothing waits
	Sending      State = "sending"      // events are being taken
	Waiting      State = "waiting"      // the sink is away or busy; it is asked again at NextTry
	Unauthorized State = "unauthorized" // the sink refuses the token: someone must act
	Forbidden    State = "forbidden"    // the token may not report something: someone must act
	Stopped      State = "stopped"      // Run has returned
)

// Status is a snapshot.
type Status struct {
	State        State
	Up           bool   // the last attempt to open the sink or to hand over went well
	Problem      string // the hint of the last failure, "" if Up
	Trouble      string // the last failure, "" once an event was taken after it
	Accepted     uint64 // events that the sink took since Run began
	Refused      uint64 // events parked since Run began
	LastRefused  string // the id and reason of the last of them
	LastAccepted time.Time
	LastError    string // of the last failure
	LastErrorAt  time.Time
	Failures     int       // in a row
	NextTry      time.Time // when what waits is tried again, zero if nothing does
}

// Status says how delivery goes. Safe for concurrent use.
func (e *Engine) Status() Status {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.status
}

func (e *Engine) setStatus(change func(*Status)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	change(&e.status)
}

// failed notes a failure for Status.
func (e *Engine) failed(v Verdict) {
	e.setStatus(func(s *Status) {
		s.Trouble, s.LastError, s.LastErrorAt = v.Err.Error(), v.Err.Error(), time.Now()
		s.Up, s.Problem = false, v.Hint
	})
}

// well notes that the sink is there.
func (e *Engine) well() {
	e.setStatus(func(s *Status) { s.Up, s.Problem = true, "" })
}
