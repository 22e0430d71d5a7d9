package pipeline

import (
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"vmsbridge/agent/camera"
	"vmsbridge/agent/codec"
	"vmsbridge/agent/sight"
	"vmsbridge/configs"
	"vmsbridge/motion"
	"vmsbridge/motion/tamper"
	"vmsbridge/storage/stills"
	"vmsbridge/uplink/vms"
)

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

// Deps are what all pipelines share. All fields but the last two are needed.
type Deps struct {
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
func New(c configs.Camera, r Deps) (*Pipeline, error) {
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
	p := &Pipeline{cfg: c, deps: r, log: log, detector: det, pace: sight.NewPace(c.Motion.Rate), spans: map[string]vms.Event{},
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

// source makes the reader of one stream.
func (p *Pipeline) source(stream, url string) (*camera.Source, error) {
	return camera.New(camera.Config{Now: p.deps.Now, Camera: p.cfg.ID, Stream: stream, URL: url, Username: p.cfg.Username, Password: p.cfg.Password.Reveal(),
		Transport: p.cfg.Transport, AllowInsecureBasic: p.cfg.AllowInsecureBasic, TLS: camera.TLS{InsecureSkipVerify: p.cfg.TLSInsecure, Fingerprint: p.cfg.TLSFingerprint}}, p.deps.Log, p.deps.Cameras)
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
	s, err := p.deps.Ring.Find(p.cfg.ID, stills.Preview, stills.AtOrBefore, p.deps.Now())
	if err != nil {
		return time.Time{}
	}
	return s.Time
}

func (p *Pipeline) mainState(s camera.Status) {
	p.log.Info("main stream", "state", string(s.State), "reason", s.Reason, "codec", s.Codec, "width", s.Width, "height", s.Height, "transport", s.Transport)
}
