package home

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

const (
	// keepEvery is how often a backlog is held against its caps.
	keepEvery = time.Minute
	// steadyFor is how long the clock must have gone on without a step of more than clockSlack before an age counts: a clock that
	// jumps years ahead must not empty a backlog.
	steadyFor  = time.Hour
	clockSlack = time.Minute
	// sayEvery bounds the log lines about one trouble that lasts, and about refused events.
	sayEvery = 5 * time.Minute
)

// Status is a home as health, the status command and the page show it. Nothing in it is secret.
type Status struct {
	Kind        string    `json:"kind"` // mqtt or webhook
	Name        string    `json:"name"`
	Up          bool      `json:"up"`                // the last attempt to hand over went well
	Problem     string    `json:"problem,omitempty"` // a sentence for a person, "" if there is none
	Waiting     int       `json:"waiting"`           // changes not handed over yet
	Oldest      time.Time `json:"oldest,omitzero"`
	Sent        uint64    `json:"sent"`    // since the start
	Refused     uint64    `json:"refused"` // since the start: given up because the other side refuses them for good
	LastRefused string    `json:"lastRefused,omitempty"`
	Skipped     uint64    `json:"skipped"` // given up because of the caps, since the home was first configured
	LastError   string    `json:"lastError,omitempty"`
	LastErrorAt time.Time `json:"lastErrorAt,omitzero"`
}

// Ledger keeps the account of one home: what waits, what was sent, refused and given up, and what is wrong. It is safe for
// concurrent use.
type Ledger struct {
	feed Feed
	caps Caps
	log  *slog.Logger

	sent, refused, failures prometheus.Counter

	mu        sync.Mutex // guards all below
	status    Status
	downSince time.Time
	saidAt    time.Time
	refusedAt time.Time // when a refusal was last logged
	trimmed   uint64
	passed    uint64
}

// NewLedger makes the account of a home. Its metrics, vmsbridge_home_…, carry the label home, kind/name. reg may be nil.
func NewLedger(kind, name string, feed Feed, caps Caps, reg prometheus.Registerer, log *slog.Logger) *Ledger {
	l := &Ledger{feed: feed, caps: caps, log: log.With("home", kind+"/"+name), status: Status{Kind: kind, Name: name}}
	if reg == nil {
		reg = prometheus.NewRegistry()
	}
	f := promauto.With(prometheus.WrapRegistererWith(prometheus.Labels{"home": kind + "/" + name}, reg))
	counter := func(name, help string) prometheus.Counter {
		return f.NewCounter(prometheus.CounterOpts{Name: "vmsbridge_home_" + name, Help: help})
	}
	l.sent = counter("sent_total", "Events handed over.")
	l.refused = counter("refused_total", "Events given up because the other side refuses them for good.")
	l.failures = counter("failures_total", "Attempts that failed and are made again.")
	gauge := func(name, help string, value func(Status) float64) {
		f.NewGaugeFunc(prometheus.GaugeOpts{Name: "vmsbridge_home_" + name, Help: help}, func() float64 { return value(l.Status()) })
	}
	gauge("up", "1 if the last attempt to hand over went well.", func(s Status) float64 {
		if s.Up {
			return 1
		}
		return 0
	})
	gauge("waiting_events", "Changes of events not handed over yet.", func(s Status) float64 { return float64(s.Waiting) })
	gauge("skipped_events", "Changes of events given up because of the caps, since the home was first configured.", func(s Status) float64 { return float64(s.Skipped) })
	gauge("oldest_age_seconds", "How long the oldest change has waited.", func(s Status) float64 {
		if s.Oldest.IsZero() {
			return 0
		}
		return max(0, feed.Now().Sub(s.Oldest).Seconds())
	})
	return l
}

// Log is a logger that names the home.
func (l *Ledger) Log() *slog.Logger { return l.log }

// Up notes that the other side answers.
func (l *Ledger) Up() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.downSince.IsZero() {
		l.log.Info("the home takes events again", "after", time.Since(l.downSince).Round(time.Second))
	}
	l.status.Up, l.status.Problem, l.downSince, l.saidAt = true, "", time.Time{}, time.Time{}
}

// Down notes a failure that is tried again; problem says what to do, for a person. The log hears of it now and then.
func (l *Ledger) Down(err error, problem string) {
	l.failures.Inc()
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if l.downSince.IsZero() {
		l.downSince = now
	}
	if now.Sub(l.saidAt) >= sayEvery || l.status.Problem != problem {
		l.log.Warn("the home does not take events; they wait", "error", err, "hint", problem)
		l.saidAt = now
	}
	l.status.Up, l.status.Problem, l.status.LastError, l.status.LastErrorAt = false, problem, err.Error(), now
}

// Sent counts events that the other side has.
func (l *Ledger) Sent(n int) {
	l.sent.Add(float64(n))
	l.mu.Lock()
	defer l.mu.Unlock()
	l.status.Sent += uint64(n)
}

// Passed notes that the home is done with everything up to a place, for Status; Advance may be told later.
func (l *Ledger) Passed(place uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.passed = place
}

// Refused counts an event that is given up, with the reason.
func (l *Ledger) Refused(id, reason string) {
	l.refused.Inc()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.status.Refused++
	l.status.LastRefused = id + ": " + reason
	if now := time.Now(); now.Sub(l.refusedAt) >= sayEvery {
		l.refusedAt = now
		l.log.Warn("the home refuses an event for good; it is left out", "id", id, "reason", reason, "refused", l.status.Refused)
	}
}

// Status is the account as it is now. It reads the feed.
func (l *Ledger) Status() Status {
	l.mu.Lock()
	passed := l.passed
	l.mu.Unlock()
	lag, err := l.feed.Lag(passed)
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.status
	if err == nil {
		s.Waiting, s.Oldest, s.Skipped = lag.Waiting, lag.Oldest, lag.Skipped
	}
	return s
}

// Keep holds the backlog within its caps until ctx is done. It returns nil.
func (l *Ledger) Keep(ctx context.Context) error {
	clock := steady{since: time.Now()}
	tick := time.NewTicker(keepEvery)
	defer tick.Stop()
	for {
		var before time.Time
		if now := time.Now(); l.caps.Age > 0 && clock.lasts(now) >= steadyFor {
			before = l.feed.Now().Add(-l.caps.Age)
		}
		l.trim(before)
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func (l *Ledger) trim(before time.Time) {
	n, err := l.feed.Trim(l.caps.Events, before)
	switch {
	case err != nil:
		l.log.Warn("hold the backlog of a home within its caps", "error", err)
	case n > 0:
		l.mu.Lock()
		l.trimmed += uint64(n)
		l.mu.Unlock()
		l.log.Warn("a home is too far behind: the oldest events are left out for it", "events", n)
	}
}

// Trimmed is how many changes Keep has given up. A home that reads ahead must read again when it grows.
func (l *Ledger) Trimmed() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.trimmed
}

// steady tells how long the clock has gone on without a step.
type steady struct {
	since time.Time // with its monotonic part
}

func (s *steady) lasts(now time.Time) time.Duration {
	gone, shown := now.Sub(s.since), now.Round(0).Sub(s.since.Round(0))
	if stepped(gone, shown) {
		s.since = now
		return 0
	}
	return gone
}

// stepped says whether a clock that has gone on by shown was set meanwhile.
func stepped(gone, shown time.Duration) bool {
	d := shown - gone
	return d > clockSlack || d < -clockSlack
}
