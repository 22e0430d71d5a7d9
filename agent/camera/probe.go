package camera

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/bluenviron/gortsplib/v4"
	"github.com/bluenviron/gortsplib/v4/pkg/liberrors"

	"vmsbridge/agent/camera/unit"
)

// Report is what Probe found out.
type Report struct {
	Offers    []Offer // everything that the camera describes at this URL
	Server    string  // what the camera calls itself, may be empty
	Codec     Codec   // of the stream that would be read
	Width     int
	Height    int
	Rate      float64       // pictures per second, by their capture times; 0 if fewer than two came
	Keyframes time.Duration // longest time between random access points seen; 0 if fewer than two came
	Transport string
	SignIn    string        // "", "basic" or "digest"
	FirstUnit time.Duration // from dialling to the first access unit
	// Units are the first access units from a random access point on, for decoding a still: up to
	// 50, as long as they are whole.
	Units []AccessUnit
	// CameraClock is how far the camera's clock is ahead of ours, if it sent a sender report in
	// time.
	CameraClock      time.Duration
	CameraClockKnown bool
}

// probeFor is how long Probe looks at a stream that plays.
const probeFor = 3 * time.Second

// Probe connects once, looks at the stream for three seconds and returns what it saw. The error is
// a *Failure, whose text says what to do; the Report then holds what was found before. ctx bounds
// all.
func Probe(ctx context.Context, cfg Config) (Report, error) {
	t, err := cfg.check()
	if err != nil {
		return Report{}, err
	}
	transports := []gortsplib.Transport{gortsplib.TransportTCP, gortsplib.TransportUDP}
	switch t.Transport {
	case TransportTCP:
		transports = transports[:1]
	case TransportUDP:
		transports = transports[1:]
	case TransportMulticast:
		transports = []gortsplib.Transport{gortsplib.TransportUDPMulticast}
	}
	for i, tr := range transports {
		p := prober{began: time.Now()}
		var r Report
		var f *Failure
		r, f = p.look(ctx, t, tr, false)
		if f != nil && noServerPorts(f) {
			p = prober{began: time.Now()}
			r, f = p.look(ctx, t, tr, true)
		}
		switch {
		case f == nil && len(p.units) > 0:
			return r, nil
		case f == nil:
			return r, failf(NoKeyframe, context.Cause(ctx), "The camera plays, but no keyframe came in the time given.")
		case !f.fallback || i == len(transports)-1:
			return r, f
		}
	}
	return Report{}, errors.New("probe camera: no transport to try")
}

// noServerPorts says that the camera did not name its UDP ports, so that packets must be taken from
// any.
func noServerPorts(f *Failure) bool {
	var e liberrors.ErrClientServerPortsNotProvided
	return errors.As(f, &e)
}

// prober collects what a session shows.
type prober struct {
	began time.Time

	mu        sync.Mutex // guards what the reader's goroutine writes
	first     time.Time
	units     []AccessUnit
	closed    bool // the first run of whole units has ended
	count     int
	from, to  time.Time
	lastRA    time.Time
	keyframes time.Duration
	info      info
}

func (p *prober) look(ctx context.Context, t *target, tr gortsplib.Transport, anyPort bool) (Report, *Failure) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var stats counters
	s := &session{t: t, log: slog.New(slog.DiscardHandler), stats: &stats, clock: unit.NewClock(nil), transport: tr,
		anyPort: anyPort,
		onInfo:  func(i info) { p.mu.Lock(); p.info = i; p.mu.Unlock() }}
	var done sync.Once
	var timer *time.Timer
	s.onUnit = func(u AccessUnit) {
		p.take(u)
		done.Do(func() { timer = time.AfterFunc(probeFor, cancel) })
	}
	f := s.run(ctx)
	done.Do(func() {})
	if timer != nil {
		timer.Stop()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.units) > 0 {
		f = nil // enough was seen, whatever ended it
	}
	snap := stats.snapshot()
	r := Report{Codec: p.info.codec, Width: p.info.width, Height: p.info.height, Keyframes: p.keyframes,
		Transport: s.transportName(),
		SignIn:    s.signIn.Outcome().Method, Units: p.units, CameraClock: snap.CameraClock,
		CameraClockKnown: snap.CameraClockKnown}
	if o := s.offers.Load(); o != nil {
		r.Offers = *o
	}
	if v := s.server.Load(); v != nil {
		r.Server = *v
	}
	if !p.first.IsZero() {
		r.FirstUnit = p.first.Sub(p.began)
	}
	if d := p.to.Sub(p.from); p.count > 1 && d > 0 {
		r.Rate = float64(p.count-1) / d.Seconds()
	}
	return r, f
}

func (p *prober) take(u AccessUnit) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.first.IsZero() {
		p.first, p.from, p.to = time.Now(), u.Time, u.Time
	}
	p.count++
	if u.Time.Before(p.from) {
		p.from = u.Time
	}
	if u.Time.After(p.to) {
		p.to = u.Time
	}
	if u.RandomAccess {
		if !p.lastRA.IsZero() {
			p.keyframes = max(p.keyframes, u.Time.Sub(p.lastRA))
		}
		p.lastRA = u.Time
	}
	p.closed = p.closed || len(p.units) > 0 && (u.Damaged || u.NewStream) || len(p.units) >= 50
	if !p.closed && (len(p.units) > 0 || u.RandomAccess) {
		p.units = append(p.units, u)
	}
}
