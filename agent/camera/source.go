package camera

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/bluenviron/gortsplib/v4"

	"vmsbridge/agent/camera/unit"
)

// Handler receives what a Source produces. Both functions may be nil.
type Handler struct {
	// OnUnit gets each access unit, in decode order, never two at once. It is called by the
	// goroutine that reads the camera and must not block: a reader held up for seconds loses the
	// session.
	OnUnit func(AccessUnit)
	// OnStatus gets each change of the status, in order, never two at once. It must not block
	// either.
	OnStatus func(Status)
}

// Source reads one stream of one camera. Make it with New, start it with Run.
type Source struct {
	t       *target
	log     *slog.Logger
	metrics *Metrics
	clock   *unit.Clock
	now     func() time.Time
	stats   counters

	toldReason string // of the last logged failure; only Run's goroutine uses these
	toldAt     time.Time
	failures   int // since it was last online

	statusMu sync.Mutex // held while OnStatus runs, so that changes stay in order
	status   Status
	handler  Handler
}

// New checks the configuration; the error names all that is wrong with it. log must not be nil;
// metrics may be.
func New(cfg Config, log *slog.Logger, metrics *Metrics) (*Source, error) {
	t, err := cfg.check()
	if err != nil {
		return nil, err
	}
	return &Source{t: t, log: log.With("camera", cfg.Camera, "stream", cfg.Stream), metrics: metrics,
		clock: unit.NewClock(cfg.Now), now: cfg.now()}, nil
}

// Stats may be called at any time, from any goroutine.
func (s *Source) Stats() Stats { return s.stats.snapshot() }

// Status may be called at any time, from any goroutine, but not by OnStatus.
func (s *Source) Status() Status {
	s.statusMu.Lock()
	defer s.statusMu.Unlock()
	return s.status
}

// Run connects, reads, and connects again, until ctx ends. It returns ctx.Err() after TEARDOWN was
// sent and everything has stopped; no function of h is called after that. It may be called once.
func (s *Source) Run(ctx context.Context, h Handler) error {
	s.handler = h
	s.publish(Status{State: Connecting})
	second := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { s.everySecond(second) })
	s.loop(ctx)
	close(second)
	wg.Wait()
	s.metrics.setState(s.t.Camera, s.t.Stream, s.Status().State, "")
	return ctx.Err()
}

func (s *Source) loop(ctx context.Context) {
	var (
		r         retry
		floor     int64
		transport = gortsplib.TransportTCP
		anyPort   bool
		patient   time.Time // until then no stream is given up before StaleAfter
	)
	switch s.t.Transport {
	case TransportUDP:
		transport = gortsplib.TransportUDP
	case TransportMulticast:
		transport = gortsplib.TransportUDPMulticast
	}
	for attempt, switched := 0, false; ctx.Err() == nil; attempt++ {
		if attempt > 0 {
			s.stats.reconnects.Add(1)
		}
		ses := &session{t: s.t, log: s.log, stats: &s.stats, clock: s.clock, floor: floor, onUnit: s.unit,
			onInfo:    s.inform,
			transport: transport, anyPort: anyPort, eager: time.Now().After(patient)}
		began := time.Now()
		f := s.attempt(ctx, ses)
		floor = ses.floor
		if f == nil {
			return
		}
		online := time.Duration(0)
		if ses.wasOnline {
			online = time.Since(began)
			s.failures, s.toldReason = 0, ""
		}
		if f.State == Stale && ses.wasOnline {
			patient = time.Now().Add(10 * time.Minute)
		}
		anyPort = anyPort || noServerPorts(f)
		if s.t.Transport == TransportAuto && f.fallback {
			transport = other(transport)
			if !switched { // at once, and without a word, once
				switched = true
				s.log.Info("changing transport", "to", ses.transportName(), "because", f.Reason)
				continue
			}
			f.Reason = "The camera can be read neither by TCP nor by UDP. " + f.Reason
		}
		switched = false
		s.publish(Status{State: f.State, Reason: f.Reason})
		wait := r.next(f, online, time.Now())
		s.logFailure(f, wait)
		knock := ""
		if f.State == Unreachable {
			knock = hostPort(s.t.url)
		}
		if pause(ctx, wait, knock) {
			r.returned()
		}
	}
}

// logFailure writes a line for each new kind of failure, and one in five minutes while it lasts.
func (s *Source) logFailure(f *Failure, wait time.Duration) {
	s.failures++
	level := slog.LevelDebug
	if f.Reason != s.toldReason || time.Since(s.toldAt) >= 5*time.Minute {
		level, s.toldReason, s.toldAt = slog.LevelWarn, f.Reason, time.Now()
	}
	args := []any{"state", f.State, "reason", f.Reason, "retry_in", wait.Round(time.Millisecond).String(), "failures",
		s.failures}
	if f.cause != nil {
		args = append(args, "error", s.t.clean(f.cause.Error()))
	}
	s.log.Log(context.Background(), level, "camera stream failed", args...)
}

// attempt runs a session and turns a panic on our own goroutine into a failure like the others.
func (s *Source) attempt(ctx context.Context, ses *session) (f *Failure) {
	defer func() {
		if r := recover(); r != nil {
			s.stats.panics.Add(1)
			s.log.Error("caught a bug while connecting to a camera", "panic", fmt.Sprint(r), "stack",
				string(debug.Stack()))
			f = failf(Refused, fmt.Errorf("panic: %v", r), "Connecting to the camera met a bug in this program. It "+
				"is tried again; please report it with the log.")
		}
	}()
	return ses.run(ctx)
}

func other(t gortsplib.Transport) gortsplib.Transport {
	if t == gortsplib.TransportTCP {
		return gortsplib.TransportUDP
	}
	return gortsplib.TransportTCP
}

func (s *Source) unit(u AccessUnit) {
	if s.handler.OnUnit != nil {
		s.handler.OnUnit(u)
	}
}

// inform is told by a session what became of its stream.
func (s *Source) inform(i info) {
	s.publish(Status{State: i.state, Reason: i.reason, Codec: i.codec, Width: i.width, Height: i.height,
		Transport: i.transport})
}

// publish makes a status known if it differs from the last. Codec, size and transport of a failure
// are those of before.
func (s *Source) publish(next Status) {
	s.statusMu.Lock()
	defer s.statusMu.Unlock()
	was := s.status
	if next.Codec == "" {
		next.Codec, next.Width, next.Height, next.Transport = was.Codec, was.Width, was.Height, was.Transport
	}
	next.Since = was.Since
	if next == was {
		return
	}
	if next.State != was.State {
		next.Since = s.now().UTC()
		s.metrics.setState(s.t.Camera, s.t.Stream, was.State, next.State)
		if next.State == Online {
			s.log.Info("camera online", "codec", next.Codec, "width", next.Width, "height", next.Height, "transport",
				next.Transport)
		}
	}
	s.status = next
	if s.handler.OnStatus != nil {
		s.handler.OnStatus(next)
	}
}

// everySecond adds up what the reader counted, and has the log told about trouble.
func (s *Source) everySecond(stop <-chan struct{}) {
	tick := time.NewTimer(toSecond(time.Now()))
	defer tick.Stop()
	var was Stats
	told := troubleLog{log: s.log}
	for {
		ended := false
		select {
		case now := <-tick.C:
			tick.Reset(toSecond(now))
		case <-stop:
			ended = true
		}
		is := s.stats.snapshot()
		s.metrics.add(s.t.Camera, s.t.Stream, was, is)
		was = is
		told.look(is, time.Now())
		if ended {
			return
		}
	}
}
