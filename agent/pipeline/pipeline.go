package pipeline

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"vmsbridge/agent/camera"
	"vmsbridge/agent/codec"
	"vmsbridge/agent/panics"
	"vmsbridge/agent/sight"
	"vmsbridge/configs"
	"vmsbridge/motion"
	"vmsbridge/motion/tamper"
	"vmsbridge/storage/stills"
	"vmsbridge/uplink/vms"
)

const (
	// aliveEvery is how often a camera's status span is noted as still going on.
	aliveEvery = time.Minute
	// complainEvery bounds the log lines about one camera's undecodable access units.
	complainEvery = time.Minute
)

// Pipeline is one camera's way from the stream to events and stills. New makes it; Run owns all its goroutines.
type Pipeline struct {
	cfg      configs.Camera
	rooms    Rooms
	log      *slog.Logger
	author   *author
	presence *presence
	recorder *recorder
	main     *mainStills // nil when one stream serves as both

	queue    *queue
	detector *motion.Detector
	decoder  *codec.Decoder
	waitKey  bool
	marks    marks
	spans    map[string]vms.Event // those that have begun, by region, and viewKey
	view     guarded
	pace     sight.Pace // of the pictures looked at
	lastSeen time.Time  // capture time of the last picture decoded
	lostWhy  string     // why the camera was away, while it is
	aliveAt  time.Time
	grumble  complaint
	turned   atomic.Int64 // when work last came round, by time.Now().UnixNano()

	mu      sync.Mutex // guards all below
	state   camera.Status
	trouble camera.Status // of the decoder, while the camera itself is online; zero if there is none
}

// Outlet takes events and never makes the pipeline wait: Put one to be made durable, Touch the last activity of one that goes
// on. agent/outlet is one.
type Outlet interface {
	Put(ev vms.Event)
	Touch(id string, last time.Time)
}

// Ring keeps the stills, and notes when there were none. storage/stills has one.
type Ring interface {
	Append(stills.Still) error
	Gap(camera string, from, to time.Time, reason string) error
	Find(camera string, k stills.Kind, op stills.Op, t time.Time) (stills.Still, error)
}

// Rooms are what all pipelines share. All fields but the last two are needed.
type Rooms struct {
	// Now is the time on the scale that all times of a pipeline are of. It never steps; Ring and Out know the true times.
	Now     func() time.Time
	Ring    Ring
	Out     Outlet
	Pool    *codec.Pool
	Metrics *Metrics
	Cameras *camera.Metrics
	Log     *slog.Logger
	Account string // that the cameras belong to
	Pace    *Pace  // of the stills; may be set anew at any time
	Version string // of the program, for the events
	Base    string // of image addresses
	// Resume is the state in which a camera was when the bridge stopped, given once. later says that it is not known yet; only one who
	// waits is told so. Nil: none is known.
	Resume func(camera string, waits bool) (r Resumed, ok, later bool)
	// Stays says that the bridge stops and lets its cameras' states go on. Nil: they end.
	Stays func() bool
}

// New checks that a pipeline can be made of a camera's section. It starts nothing.
func New(c configs.Camera, r Rooms) (*Pipeline, error) {
	log := r.Log.With("camera", c.ID)
	regions := map[string]motion.Region{}
	mc := sight.Config(c.Motion)
	for _, g := range mc.Regions {
		regions[g.ID] = g
	}
	det, err := motion.New(mc)
	if err != nil {
		return nil, fmt.Errorf("camera %s: motion: %w", c.ID, err)
	}
	p := &Pipeline{cfg: c, rooms: r, log: log, detector: det, pace: sight.NewPace(c.Motion.Rate), spans: map[string]vms.Event{},
		state: camera.Status{State: camera.Connecting, Since: r.Now()}}
	if tc, ok := sight.Tamper(c.Motion); ok {
		if p.view.watch, err = tamper.New(tc); err != nil {
			return nil, fmt.Errorf("camera %s: %w", c.ID, err)
		}
	}
	dropped := func(n int) { r.Metrics.unitsDropped.WithLabelValues(c.ID).Add(float64(n)) }
	p.queue = newQueue(dropped)
	p.author = &author{account: r.Account, camera: c.ID, baseURL: r.Base, version: r.Version, regions: regions,
		epoch: strconv.FormatInt(r.Now().UnixMilli(), 36)}
	p.presence = &presence{author: p.author, out: r.Out}
	if r.Resume != nil {
		p.presence.resume = func(waits bool) (Resumed, bool, bool) { return r.Resume(c.ID, waits) }
	}
	p.recorder = &recorder{camera: c.ID, album: r.Ring, dev: p, m: r.Metrics, fail: p.stillFailed, pace: r.Pace.of(c)}
	if c.PreviewURL != "" {
		p.main = &mainStills{camera: c.ID, album: r.Ring, quality: r.Pace.quality, m: r.Metrics, log: log, queue: newQueue(dropped), held: gops{keep: 5 * time.Second},
			decoder: func(f codec.Format) *codec.Decoder { return r.Pool.Open(c.ID, f, 0) }}
	}
	return p, nil
}

// Run pulls the camera's streams until ctx is done. It returns early only on a bug of ours (a panic), as an error.
func (p *Pipeline) Run(ctx context.Context) error {
	p.rooms.Metrics.begin(p.cfg.ID)
	p.lastSeen = p.newestStill()
	if !p.lastSeen.IsZero() {
		p.lostWhy = "the bridge was not running"
	}
	stream := stills.Main
	if p.main != nil {
		stream = stills.Preview
	}
	source, err := p.source(stream.String(), p.motionURL())
	if err != nil {
		return err
	}
	var full *camera.Source
	if p.main != nil {
		if full, err = p.source(stills.Main.String(), p.cfg.URL); err != nil {
			return err
		}
	}
	g, ctx := errgroup.WithContext(ctx)
	// The full-resolution stream is asked for once the other one has come: a wrong password then costs one refusal a round
	// and not two, and cameras lock accounts after a few.
	online := make(chan struct{})
	come := sync.OnceFunc(func() { close(online) })
	state := func(s camera.Status) {
		if s.State == camera.Online {
			come()
		}
		p.setState(s)
	}
	g.Go(panics.Caught(func() error { return source.Run(ctx, p.queue.handler(state)) }))
	if p.main != nil {
		g.Go(panics.Caught(func() error {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-online:
			}
			return full.Run(ctx, p.main.queue.handler(p.mainState))
		}))
		g.Go(panics.Caught(func() error { return p.main.Run(ctx) }))
	}
	g.Go(panics.Caught(func() error { return p.work(ctx) }))
	return g.Wait()
}

// source makes the reader of one stream.
func (p *Pipeline) source(stream, url string) (*camera.Source, error) {
	return camera.New(camera.Config{Now: p.rooms.Now, Camera: p.cfg.ID, Stream: stream, URL: url, Username: p.cfg.Username, Password: p.cfg.Password.Reveal(),
		Transport: p.cfg.Transport, AllowInsecureBasic: p.cfg.AllowInsecureBasic, TLS: camera.TLS{InsecureSkipVerify: p.cfg.TLSInsecure, Fingerprint: p.cfg.TLSFingerprint}}, p.rooms.Log, p.rooms.Cameras)
}

// Turned is when the pipeline's consumer last took something up or found nothing to do, which it does once a minute at least; zero
// before it runs. Safe for concurrent use.
func (p *Pipeline) Turned() time.Time {
	if n := p.turned.Load(); n != 0 {
		return time.Unix(0, n)
	}
	return time.Time{}
}

// work is the camera's one consumer: it decodes, detects, and records.
func (p *Pipeline) work(ctx context.Context) error {
	defer p.close()
	tick := time.NewTicker(aliveEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		p.turned.Store(time.Now().UnixNano())
		switch it, ok := p.queue.TryGet(); {
		case !ok:
			select {
			case <-ctx.Done():
			case <-p.queue.wake:
			case <-tick.C:
				p.idle(p.rooms.Now())
			}
		case it.status != nil:
			p.status(*it.status)
		default:
			p.unit(ctx, it.unit)
		}
	}
	return ctx.Err()
}

// close ends what is open: the agent stops looking at this camera. After a panic nothing is sure but what was noted of the
// open spans.
func (p *Pipeline) close() {
	_ = panics.Caught(func() error { p.gapView(); return nil })()
	_ = panics.Caught(func() error { p.report(p.detector.Gap()); return nil })()
	for region, ev := range p.spans {
		delete(p.spans, region)
		ev.EndTimestamp = vms.Ptr(ev.StartTimestamp.Time)
		if last := p.pace.Last(); last.After(ev.StartTimestamp.Time) {
			ev.EndTimestamp = vms.Ptr(last)
		}
		p.rooms.Out.Put(ev)
	}
	p.view.reason.Store(uint32(tamper.None))
	end := p.lastSeen
	if now := p.rooms.Now(); p.presence.now.connection != "" && end.Before(p.presence.now.start) {
		end = now
	}
	if p.rooms.Stays != nil && p.rooms.Stays() {
		p.presence.Leave(p.rooms.Now())
	}
	p.presence.Close(end)
	if p.decoder != nil {
		p.decoder.Close()
	}
}

// motionURL is the stream that motion and previews are made from.
func (p *Pipeline) motionURL() string {
	if p.cfg.PreviewURL != "" {
		return p.cfg.PreviewURL
	}
	return p.cfg.URL
}

// newestStill is the time of this camera's newest still from an earlier run, or zero.
func (p *Pipeline) newestStill() time.Time {
	s, err := p.rooms.Ring.Find(p.cfg.ID, stills.Preview, stills.AtOrBefore, p.rooms.Now())
	if err != nil {
		return time.Time{}
	}
	return s.Time
}

func (p *Pipeline) mainState(s camera.Status) {
	p.log.Info("main stream", "state", string(s.State), "reason", s.Reason, "codec", s.Codec, "width", s.Width, "height", s.Height, "transport", s.Transport)
}
