package agent

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"vmsbridge/agent/camera"
	"vmsbridge/agent/codec"
	"vmsbridge/configs"
	"vmsbridge/motion"
	"vmsbridge/storage/stills"
)

const (
	// lumaPixels is the detector's working size: 320x180 for a 16:9 picture.
	lumaPixels = 320 * 180
	// aliveEvery is how often a camera's status span is noted as still going on.
	aliveEvery = time.Minute
	// complainEvery bounds the log lines about one camera's undecodable access units.
	complainEvery = time.Minute
)

// pipeline is one camera's way from the stream to events and stills. New makes it; Run owns all its goroutines.
type pipeline struct {
	cfg      configs.Camera
	rooms    rooms
	log      *slog.Logger
	author   *author
	presence *presence
	recorder *recorder
	main     *mainStills // nil when one stream serves as both

	queue    *queue
	detector *motion.Detector
	decoder  *codec.Decoder
	format   codec.Format
	waitKey  bool
	marks    marks
	spans    map[string]openSpan
	lastStep time.Time // capture time of the last picture looked at
	lastSeen time.Time // capture time of the last picture decoded
	lostWhy  string    // why the camera was away, while it is
	aliveAt  time.Time
	grumble  complaint

	mu    sync.Mutex // guards state
	state camera.Status
	seen  time.Time // local time of the last picture
}

// openSpan is a span that has begun: its event's id, to note its last activity.
type openSpan struct{ id string }

// rooms are what all pipelines share.
type rooms struct {
	ring    *stills.Ring
	out     *outlet
	pool    *codec.Pool
	metrics *metrics
	cameras *camera.Metrics
	cfg     *configs.Config
	log     *slog.Logger
	version string
	base    string // of image addresses
}

func newPipeline(c configs.Camera, r rooms, log *slog.Logger) (*pipeline, error) {
	log = log.With("camera", c.ID)
	regions := map[string]motion.Region{}
	mc := motion.Config{Sensitivity: c.Motion.Sensitivity, QuietPeriod: c.Motion.QuietPeriod, MinDuration: c.Motion.MinDuration, MaxDuration: c.Motion.MaxDuration}
	for _, m := range c.Motion.Masks {
		mc.Masks = append(mc.Masks, motion.Polygon(m))
	}
	for _, g := range c.Motion.Regions {
		region := motion.Region{ID: g.ID, Name: g.Name, Area: motion.Polygon(g.Area), Sensitivity: g.Sensitivity}
		mc.Regions = append(mc.Regions, region)
		regions[g.ID] = region
	}
	det, err := motion.New(mc)
	if err != nil {
		return nil, fmt.Errorf("camera %s: motion: %w", c.ID, err)
	}
	p := &pipeline{cfg: c, rooms: r, log: log, queue: newQueue(), detector: det, spans: map[string]openSpan{},
		state: camera.Status{State: camera.Connecting, Since: time.Now()}}
	p.author = &author{account: r.cfg.Bridge.Account, camera: c.ID, baseURL: r.base, version: r.version, regions: regions}
	p.presence = &presence{author: p.author, out: r.out}
	sc := r.cfg.Stills
	p.recorder = &recorder{camera: c.ID, album: r.ring, dev: p, m: r.metrics, fail: p.stillFailed,
		pace: pace{quiet: sc.PreviewInterval, motion: sc.MotionInterval, main: sc.MainInterval, previewWidth: sc.PreviewWidth, mainToo: c.PreviewURL == ""}}
	if c.PreviewURL != "" {
		p.main = &mainStills{camera: c.ID, album: r.ring, quality: sc.Quality, m: r.metrics, log: log, queue: newQueue(), held: gops{keep: 5 * time.Second},
			decoder: func(f codec.Format) *codec.Decoder { return r.pool.Open(c.ID, f, 0) }}
	}
	return p, nil
}

// Run pulls the camera's streams until ctx is done. It returns early only on a bug of ours (a panic), as an error.
func (p *pipeline) Run(ctx context.Context) error {
	p.lastSeen = p.newestStill()
	if !p.lastSeen.IsZero() {
		p.lostWhy = "the bridge was not running"
	}
	g, ctx := errgroup.WithContext(ctx)
	stream := stills.Main
	if p.main != nil {
		stream = stills.Preview
	}
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
	if err := p.source(ctx, g, stream.String(), p.motionURL(), p.queue, nil, state); err != nil {
		return err
	}
	if p.main != nil {
		if err := p.source(ctx, g, stills.Main.String(), p.cfg.URL, p.main.queue, online, p.mainState); err != nil {
			return err
		}
		g.Go(guard(func() error { return p.main.Run(ctx) }))
	}
	g.Go(guard(func() error { return p.work(ctx) }))
	return g.Wait()
}

// source starts one stream into q, once after is closed (nil: at once).
func (p *pipeline) source(ctx context.Context, g *errgroup.Group, stream, url string, q *queue, after <-chan struct{}, state func(camera.Status)) error {
	src, err := camera.New(camera.Config{Camera: p.cfg.ID, Stream: stream, URL: url, Username: p.cfg.Username, Password: p.cfg.Password.Reveal(),
		Transport: p.cfg.Transport, AllowInsecureBasic: p.cfg.AllowInsecureBasic, TLS: camera.TLS{InsecureSkipVerify: p.cfg.TLSInsecure, Fingerprint: p.cfg.TLSFingerprint}}, p.rooms.log, p.rooms.cameras)
	if err != nil {
		return err
	}
	g.Go(guard(func() error {
		if after != nil {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-after:
			}
		}
		return src.Run(ctx, camera.Handler{
			OnUnit: func(u camera.AccessUnit) {
				u.Time = u.Time.Truncate(time.Millisecond) // what the wire carries
				q.PutUnit(u)
			},
			OnStatus: func(s camera.Status) { state(s); q.PutStatus(s) },
		})
	}))
	return nil
}

// work is the camera's one consumer: it decodes, detects, and records.
func (p *pipeline) work(ctx context.Context) error {
	defer p.close()
	for {
		it, ok := p.queue.Get(ctx)
		if !ok {
			return ctx.Err()
		}
		if it.status != nil {
			p.status(*it.status)
			continue
		}
		p.unit(ctx, it.unit)
	}
}

// close ends what is open: the agent stops looking at this camera.
func (p *pipeline) close() {
	p.report(p.detector.Gap())
	end := p.lastSeen
	if now := time.Now(); p.presence.now.connection != "" && end.Before(p.presence.now.start) {
		end = now
	}
	p.presence.Close(end)
	if p.decoder != nil {
		p.decoder.Close()
	}
}

// motionURL is the stream that motion and previews are made from.
func (p *pipeline) motionURL() string {
	if p.cfg.PreviewURL != "" {
		return p.cfg.PreviewURL
	}
	return p.cfg.URL
}

// newestStill is the time of this camera's newest still from an earlier run, or zero.
func (p *pipeline) newestStill() time.Time {
	s, err := p.rooms.ring.Find(p.cfg.ID, stills.Preview, stills.AtOrBefore, time.Now())
	if err != nil {
		return time.Time{}
	}
	return s.Time
}

func (p *pipeline) setState(s camera.Status) {
	p.mu.Lock()
	p.state = s
	p.mu.Unlock()
	p.log.Info("camera", "state", string(s.State), "reason", s.Reason, "codec", s.Codec, "width", s.Width, "height", s.Height, "transport", s.Transport)
}

func (p *pipeline) mainState(s camera.Status) {
	p.log.Info("main stream", "state", string(s.State), "reason", s.Reason, "codec", s.Codec, "width", s.Width, "height", s.Height, "transport", s.Transport)
}
