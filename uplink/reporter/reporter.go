package reporter

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vmsbridge/uplink/vms"
)

// Entry is an event that waits in the outbox. Place says where: older ones have lower places. Revision tells it from a
// later form of the same event.
type Entry struct {
	Event    vms.Event
	Place    uint64
	Revision uint64
	Attempts int
	Since    time.Time
}

// Source is the outbox: storage/journal is one. E is its own struct of the fields of Entry, so that neither package needs
// to know the other. Its methods must be safe for concurrent use.
type Source[E ~struct {
	Event    vms.Event
	Place    uint64
	Revision uint64
	Attempts int
	Since    time.Time
}] interface {
	// Scan calls visit with the places and actors of up to n entries behind a place, oldest first.
	Scan(after uint64, n int, visit func(place uint64, actorID string)) error
	// LastPlace is a place such that whatever enters later stands behind it.
	LastPlace() (uint64, error)
	// Load reads the entries at these places, in their order, without those that have left.
	Load(places []uint64) ([]E, error)
	// AckAll removes entries, those apart that were renewed since: it returns their places. Of their events only the ids are there.
	AckAll(entries []E) (renewed []uint64, err error)
	// Park sets an entry aside for good, with the reason, if it was not renewed since.
	Park(id string, revision uint64, reason string) error
	// Changed has a value after something entered the outbox.
	Changed() <-chan struct{}
}

// Sender hands one event to the service. Its errors are the verdicts of uplink/vms. uplink/client is one.
type Sender interface {
	Report(ctx context.Context, ev vms.Event) error
}

// BatchSender is a Sender that may know how to hand over several events at once. uplink/client is one.
type BatchSender interface {
	Sender
	// AtOnce is how many events the service takes at once now; 1: not more than one.
	AtOnce() int
	// ReportMany hands over events of one actor in their order. The verdicts are of as many of them, from the first on, as
	// the service judged: nil, or a *vms.RefusedError. err is the trouble with the one after those, nil if there is none.
	ReportMany(ctx context.Context, events []vms.Event) (verdicts []error, err error)
}

// Options of New. The zero value is right.
type Options struct {
	// Concurrency is how many actors are served at once; 0 means 16. Each costs a round trip and a commit at the service,
	// which shares commits between requests that wait together.
	Concurrency int
	// FirstPause and MaxPause bound the wait after a failure; 0 means 1 s and 15 s. AuthPause is the wait after a 401, up
	// to twice as long; 0 means 30 s.
	FirstPause, MaxPause, AuthPause time.Duration
	// StuckAfter is how long an event must have failed, while others were taken, to be parked; 0 means 1 h.
	StuckAfter time.Duration
	// Overtake is how long a backlog may take after the service is back before what is new goes ahead of it; 0 means 1 s.
	Overtake time.Duration
	// Drain is how long requests under way may take once Run's context is done; 0 means 5 s.
	Drain time.Duration
	// Greet is called before the first event is sent, again and again until it returns nil. Its errors are like those of Sender. Nil:
	// there is nothing to do first.
	Greet func(context.Context) error
	// Register is called when the service does not know an event's actor; nil: such an event is parked at once.
	Register   func(context.Context) error
	Log        *slog.Logger          // nil: nothing is logged
	Registerer prometheus.Registerer // nil: nothing is counted
}

// Reporter drains one outbox. Run it once; Status may be called at any time.
type Reporter struct {
	scan      func(after uint64, n int, visit func(uint64, string)) error
	lastPlace func() (uint64, error)
	load      func(places []uint64) ([]Entry, error)
	ack       func([]Entry) (renewed []uint64, err error)
	park      func(id string, revision uint64, reason string) error
	changed   <-chan struct{}
	sender    Sender
	many      BatchSender // sender, if it is one
	opts      Options
	log       *slog.Logger
	metrics   *metrics

	mu     sync.Mutex // guards status
	status Status
}

// New makes a reporter. It starts nothing.
func New[E ~struct {
	Event    vms.Event
	Place    uint64
	Revision uint64
	Attempts int
	Since    time.Time
}](source Source[E], sender Sender, o Options) *Reporter {
	o.Concurrency = or(o.Concurrency, 16)
	o.FirstPause, o.MaxPause = or(o.FirstPause, time.Second), or(o.MaxPause, 15*time.Second)
	o.AuthPause, o.StuckAfter = or(o.AuthPause, 30*time.Second), or(o.StuckAfter, time.Hour)
	o.Drain, o.Overtake = or(o.Drain, 5*time.Second), or(o.Overtake, time.Second)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	many, _ := sender.(BatchSender)
	return &Reporter{
		scan: source.Scan, lastPlace: source.LastPlace, park: source.Park, changed: source.Changed(),
		load: func(places []uint64) ([]Entry, error) {
			list, err := source.Load(places)
			entries := make([]Entry, len(list))
			for i, e := range list {
				entries[i] = Entry(e)
			}
			return entries, err
		},
		ack: func(list []Entry) ([]uint64, error) {
			entries := make([]E, len(list))
			for i, e := range list {
				entries[i] = E(e)
			}
			return source.AckAll(entries)
		},
		sender: sender, many: many, opts: o, log: o.Log, metrics: newMetrics(o.Registerer), status: Status{State: Idle},
	}
}

func or[T comparable](v, fallback T) T {
	var zero T
	if v == zero {
		return fallback
	}
	return v
}

// State says in a word how reporting goes.
type State string

// The states of a reporter.
const (
	Idle         State = "idle"         // nothing waits
	Sending      State = "sending"      // events are being taken
	Waiting      State = "waiting"      // the service is away or busy; it is asked again at NextTry
	Unauthorized State = "unauthorized" // the service refuses the token: someone must act
	Forbidden    State = "forbidden"    // the token may not report something: someone must act
	Stopped      State = "stopped"      // Run has returned
)

// Status is a snapshot.
type Status struct {
	State        State
	Accepted     uint64 // events that the service took since Run began
	Refused      uint64 // events parked since Run began
	LastAccepted time.Time
	LastError    string // of the last failure, "" once an event was taken after it
	LastErrorAt  time.Time
	Failures     int       // in a row
	NextTry      time.Time // when what waits is tried again, zero if nothing does
}

// Status says how reporting goes. Safe for concurrent use.
func (r *Reporter) Status() Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.status
}

func (r *Reporter) setStatus(change func(*Status)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.status)
}
