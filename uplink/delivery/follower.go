package delivery

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"golang.org/x/sync/errgroup"

	"vmsbridge/uplink/vms"
)

const (
	// keepEvery is how often a backlog is held against its caps.
	keepEvery = time.Minute
	// steadyFor is how long the clock must have gone on without a step of more than clockSlack
	// before an age counts: a clock that jumps years ahead must not empty a backlog.
	steadyFor  = time.Hour
	clockSlack = time.Minute
	// drainTime bounds the handing over of what is left at the stop.
	drainTime = 1500 * time.Millisecond
)

// Caps bound what a sink may be behind.
type Caps struct {
	Events int           // 0: any number
	Age    time.Duration // 0: any
}

// FollowOptions are those of Follow. Kind, Name and Feed are needed.
type FollowOptions struct {
	Kind, Name string // of the sink, for a person
	Feed       Feed
	Caps       Caps
	// Wants says whether the sink is to get an event; nil: it gets all. What it does not want is
	// dealt with.
	Wants func(vms.Queued) bool
	// OneLane keeps the order of the bridge; else that of each actor is kept.
	OneLane bool
	// Untrue hands over also events whose times and ids are not right yet; else they and what
	// follows wait until they are.
	Untrue bool
	// Engine is how to deliver. Follow sets Strict, Drain, DrainWaiting and Metrics, and Window
	// where it is 0.
	Engine     Options
	Log        *slog.Logger          // nil: nothing is logged
	Registerer prometheus.Registerer // nil: nothing is counted
}

// SinkStatus is a sink beside the service as health, the status command and the page show it.
// Nothing in it is secret.
type SinkStatus struct {
	Kind        string    `json:"kind"` // mqtt, webhook or file
	Name        string    `json:"name"`
	Up          bool      `json:"up"`                // the last attempt to hand over went well
	Problem     string    `json:"problem,omitempty"` // a sentence for a person, "" if there is none
	Waiting     int       `json:"waiting"`           // entries not handed over yet
	Oldest      time.Time `json:"oldest,omitzero"`
	Sent        uint64    `json:"sent"`    // since the start
	Refused     uint64    `json:"refused"` // since the start: given up because the other side refuses them for good
	LastRefused string    `json:"lastRefused,omitempty"`
	Skipped     uint64    `json:"skipped"` // given up because of the caps, since the sink was first configured
	LastError   string    `json:"lastError,omitempty"`
	LastErrorAt time.Time `json:"lastErrorAt,omitzero"`
}

// Follower hands the events of a cursor to a sink beside the service: in the order of each lane,
// each at least once, within caps. One that is dead delays nobody else; what falls out of its caps
// is counted and said.
type Follower struct {
	engine *Engine
	cursor *cursor
	o      FollowOptions
}

// Follow makes a Follower. Its metrics, vmsbridge_home_…, carry the label home, kind/name.
func Follow(sink Sink, o FollowOptions) *Follower {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Registerer == nil {
		o.Registerer = prometheus.NewRegistry()
	}
	o.Log = o.Log.With("sink", o.Kind+"/"+o.Name)
	c := &cursor{Feed: o.Feed, wants: o.Wants, untrue: o.Untrue, turn: make(chan struct{}, 1), notedAt: time.Now(),
		lane: func(ev vms.Event) string { return ev.ActorID }}
	if o.Wants == nil {
		c.wants = func(vms.Queued) bool { return true }
	}
	if o.OneLane {
		c.lane = func(vms.Event) string { return "" }
	}
	f := &Follower{cursor: c, o: o}
	e := o.Engine
	e.Strict, e.DrainWaiting, e.Drain, e.Window = true, true, drainTime, or(e.Window, scanPiece)
	e.Log, e.Metrics = o.Log, f.metrics()
	f.engine = New(c, sink, e)
	return f
}

func (f *Follower) metrics() *Metrics {
	to := promauto.With(prometheus.WrapRegistererWith(prometheus.Labels{"home": f.o.Kind + "/" + f.o.Name},
		f.o.Registerer))
	counter := func(name, help string) prometheus.Counter {
		return to.NewCounter(prometheus.CounterOpts{Name: "vmsbridge_home_" + name, Help: help})
	}
	gauge := func(name, help string, value func(SinkStatus) float64) {
		to.NewGaugeFunc(prometheus.GaugeOpts{Name: "vmsbridge_home_" + name, Help: help},
			func() float64 { return value(f.Status()) })
	}
	gauge("up", "1 if the last attempt to hand over went well.", func(s SinkStatus) float64 {
		if s.Up {
			return 1
		}
		return 0
	})
	gauge("waiting_events", "Changes of events not handed over yet.", func(s SinkStatus) float64 {
		return float64(s.Waiting)
	})
	gauge("skipped_events", "Changes of events given up because of the caps, since the home was first configured.",
		func(s SinkStatus) float64 { return float64(s.Skipped) })
	gauge("oldest_age_seconds", "How long the oldest change has waited.", func(s SinkStatus) float64 {
		if s.Oldest.IsZero() {
			return 0
		}
		return max(0, f.cursor.Now().Sub(s.Oldest).Seconds())
	})
	failures := counter("failures_total", "Attempts that failed and are made again.")
	return &Metrics{
		Sent:    counter("sent_total", "Events handed over."),
		Refused: counter("refused_total", "Events given up because the other side refuses them for good."),
		Failed:  func(Kind) prometheus.Counter { return failures },
	}
}

// Run hands events over until ctx is done, then what is left for a moment. It returns nil.
func (f *Follower) Run(ctx context.Context) error {
	var g errgroup.Group
	g.Go(func() error { f.keep(ctx); return nil })
	_ = f.engine.Run(ctx)
	return g.Wait()
}

// Log is a logger that names the sink.
func (f *Follower) Log() *slog.Logger { return f.o.Log }

// Feed is where the sink reads.
func (f *Follower) Feed() Feed { return f.o.Feed }

// Status is the sink as it is now. It reads the feed.
func (f *Follower) Status() SinkStatus {
	e := f.engine.Status()
	s := SinkStatus{Kind: f.o.Kind, Name: f.o.Name, Up: e.Up, Problem: e.Problem, Sent: e.Accepted, Refused: e.Refused,
		LastRefused: e.LastRefused, LastError: e.LastError, LastErrorAt: e.LastErrorAt}
	if lag, err := f.cursor.Lag(f.cursor.passed()); err == nil {
		s.Waiting, s.Oldest, s.Skipped = lag.Waiting, lag.Oldest, lag.Skipped
	}
	f.cursor.mu.Lock()
	defer f.cursor.mu.Unlock()
	if err := f.cursor.failed; err != nil {
		s.Up, s.LastError = false, err.Error()
		s.Problem = "the journal does not take how far the " + s.Kind + " " + s.Name + " is: is the disk full?"
	}
	return s
}

// keep holds the backlog within its caps until ctx is done.
func (f *Follower) keep(ctx context.Context) {
	began := time.Now()
	tick := time.NewTicker(keepEvery)
	defer tick.Stop()
	for {
		var before time.Time
		now := time.Now()
		if stepped(now.Sub(began), now.Round(0).Sub(began.Round(0))) {
			began = now
		}
		if f.o.Caps.Age > 0 && now.Sub(began) >= steadyFor {
			before = f.cursor.Now().Add(-f.o.Caps.Age)
		}
		f.trim(before)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// stepped says whether a clock that has gone on by shown was set meanwhile.
func stepped(gone, shown time.Duration) bool { return (shown - gone).Abs() > clockSlack }

func (f *Follower) trim(before time.Time) {
	n, err := f.cursor.Trim(f.o.Caps.Events, before)
	if n > 0 {
		f.o.Log.Warn("the sink is too far behind: the oldest events are left out for it", "events", n)
		err = f.cursor.trimmed()
	}
	if err != nil {
		f.o.Log.Warn("hold the backlog of the sink within its caps", "error", err)
	}
}
