package pipeline

import (
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"vmsbridge/agent/camera"
	"vmsbridge/agent/codec"
	"vmsbridge/configs"
	"vmsbridge/motion"
	"vmsbridge/motion/rule"
	"vmsbridge/motion/tamper"
	"vmsbridge/storage/stills"
	"vmsbridge/uplink/vms"
)

// New checks that a pipeline can be made of a camera's section. It starts nothing.
func New(c configs.Camera, r Deps) (*Pipeline, error) {
	log := r.Log.With("camera", c.ID)
	regions := map[string]motion.Region{}
	mc := DetectorConfig(c.Motion)
	for _, g := range mc.Regions {
		regions[g.ID] = g
	}
	det, err := motion.New(mc)
	if err != nil {
		return nil, fmt.Errorf("camera %s: motion: %w", c.ID, err)
	}
	p := &Pipeline{cfg: c, deps: r, log: log, detector: det, pace: NewSampler(c.Motion.Rate),
		spans: map[string]vms.Event{},
		state: camera.Status{State: camera.Connecting, Since: r.Now()}}
	if p.disarmed = new(atomic.Bool); r.Disarmed != nil {
		p.disarmed = r.Disarmed(c.ID)
	}
	if tc, ok := TamperConfig(c.Motion); ok {
		if p.view.watch, err = tamper.New(tc); err != nil {
			return nil, fmt.Errorf("camera %s: %w", c.ID, err)
		}
	}
	lines, areas := map[string]rule.Line{}, map[string]rule.Area{}
	if rc, ok := RuleConfig(c.Motion); ok {
		if p.rules.watch, err = rule.New(rc); err != nil {
			return nil, fmt.Errorf("camera %s: %w", c.ID, err)
		}
		for _, l := range rc.Lines {
			lines[l.ID] = l
		}
		for _, a := range rc.Areas {
			areas[a.ID] = a
		}
	}
	dropped := func(n int) { r.Metrics.unitsDropped.WithLabelValues(c.ID).Add(float64(n)) }
	p.queue = newQueue(dropped)
	if r.Late != nil {
		p.queue.late = r.Late
	}
	p.author = &author{account: r.Account, camera: c.ID, baseURL: r.Base, version: r.Version,
		regions: regions, lines: lines, areas: areas, epoch: strconv.FormatInt(r.Now().UnixMilli(), 36)}
	p.presence = &presence{author: p.author, out: r.Out}
	if r.Resume != nil {
		p.presence.resume = func(waits bool) (Resumed, bool, bool) { return r.Resume(c.ID, waits) }
	}
	p.recorder = &recorder{camera: c.ID, album: r.Ring, dev: p, m: r.Metrics, fail: p.stillFailed, pace: r.Pace.of(c)}
	if c.PreviewURL != "" {
		p.main = &mainStills{camera: c.ID, album: r.Ring, quality: r.Pace.quality, m: r.Metrics, log: log,
			queue: newQueue(dropped), held: gops{keep: 5 * time.Second},
			decoder: func(f codec.Format) *codec.Decoder { return r.Pool.Open(c.ID, f, 0) }}
	}
	return p, nil
}

// source makes the reader of one stream.
func (p *Pipeline) source(stream, url string) (*camera.Source, error) {
	return camera.New(camera.Config{Now: p.deps.Now, Camera: p.cfg.ID, Stream: stream, URL: url,
		Username: p.cfg.Username, Password: p.cfg.Password.Reveal(),
		Transport: p.cfg.Transport, AllowInsecureBasic: p.cfg.AllowInsecureBasic,
		TLS: camera.TLS{InsecureSkipVerify: p.cfg.TLSInsecure, Fingerprint: p.cfg.TLSFingerprint}}, p.deps.Log,
		p.deps.Cameras)
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
	p.log.Info("main stream", "state", string(s.State), "reason", s.Reason, "codec", s.Codec, "width", s.Width,
		"height", s.Height, "transport", s.Transport)
}
