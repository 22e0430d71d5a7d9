package pipeline

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"vmsbridge/agent/camera"
	"vmsbridge/agent/codec"
	"vmsbridge/agent/supervisor"
	"vmsbridge/motion"
	"vmsbridge/motion/tamper"
	"vmsbridge/storage/stills"
	"vmsbridge/uplink/vms"
)

// Run pulls the camera's streams until ctx is done. It returns early only on a bug of ours (a
// panic), as an error.
func (p *Pipeline) Run(ctx context.Context) error {
	p.deps.Metrics.begin(p.cfg)
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
	// The full-resolution stream is asked for once the other one has come: a wrong password then
	// costs one refusal a round and not two, and cameras lock accounts after a few.
	online := make(chan struct{})
	come := sync.OnceFunc(func() { close(online) })
	state := func(s camera.Status) {
		if s.State == camera.Online {
			come()
		}
		p.setState(s)
	}
	g.Go(supervisor.Caught(func() error { return source.Run(ctx, p.queue.handler(state)) }))
	if p.main != nil {
		g.Go(supervisor.Caught(func() error {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-online:
			}
			return full.Run(ctx, p.main.queue.handler(p.mainState))
		}))
		g.Go(supervisor.Caught(func() error { return p.main.Run(ctx) }))
	}
	g.Go(supervisor.Caught(func() error { return p.work(ctx) }))
	return g.Wait()
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
				p.idle(p.deps.Now())
			}
		case it.status != nil:
			p.status(*it.status)
		default:
			p.unit(ctx, it.unit)
		}
	}
	return ctx.Err()
}

// status handles a change of the camera's state, in its place between the access units.
func (p *Pipeline) status(s camera.Status) {
	if s.State != camera.Online && s.State != camera.Connecting {
		p.gap()
		p.lostWhy = s.Reason
	}
	if s.State != camera.Online {
		p.presence.Set(s.State, s.Since)
	}
}

// unit decodes one access unit.
func (p *Pipeline) unit(ctx context.Context, u camera.AccessUnit) {
	if u.NewStream || p.decoder == nil {
		p.begin(u)
	}
	if p.waitKey && !u.RandomAccess {
		p.deps.Metrics.unitsDropped.WithLabelValues(p.cfg.ID).Inc()
		return
	}
	if !p.decoder.Wants(u.RandomAccess) {
		p.waitKey = true
		p.deps.Metrics.unitsSkipped.WithLabelValues(p.cfg.ID).Inc()
		return
	}
	p.waitKey = false
	p.marks.Add(u)
	p.decoder.LumaFrom(p.pace.From(u.Time).UnixMicro())
	pictures, err := p.decoder.Decode(ctx, u.Data, u.Time.UnixMicro())
	if err != nil {
		if ctx.Err() == nil {
			p.decodeFailed(err)
		}
		return
	}
	p.recorder.Came(len(pictures))
	for _, pic := range pictures {
		p.picture(ctx, pic)
		p.recorder.Seen(ctx)
	}
}

// begin opens a decoder for a new stream.
func (p *Pipeline) begin(u camera.AccessUnit) {
	if p.decoder != nil {
		p.decoder.Close()
	}
	p.gap()
	format := codec.Format(u.Codec)
	p.decoder = p.deps.Pool.Open(p.cfg.ID, format, LumaPixels)
	p.recorder.Lost()
	p.marks = marks{keepData: format == codec.MJPEG}
	p.waitKey = true
}

// picture looks at one decoded picture.
func (p *Pipeline) picture(ctx context.Context, pic codec.Picture) {
	t := time.UnixMicro(pic.PTS).UTC()
	if p.marks.Damaged(pic.PTS) {
		p.deps.Metrics.damaged.WithLabelValues(p.cfg.ID).Inc()
		return
	}
	p.arrived(t)
	if len(pic.Luma) == 0 || !p.pace.Due(t) {
		return
	}
	if p.counters == nil {
		p.counters = p.deps.Metrics.of(p.cfg.ID)
	}
	began := time.Now()
	look := motion.Picture{Luma: pic.Luma, Width: pic.LumaWidth, Height: pic.LumaHeight, Stride: pic.LumaWidth, Time: t}
	res := p.detector.Step(look)
	p.counters.detect.Observe(time.Since(began).Seconds())
	p.counters.pictures.Inc()

	p.recorder.pace = p.deps.Pace.of(p.cfg)
	// Stills first: whoever hears of the event may ask for its image at once.
	p.recorder.Picture(ctx, pic, t, res)
	if p.main != nil {
		if ok, start := firstBegan(res.Changes); ok {
			p.main.Want(start)
			p.recorder.lastMain = start
		} else if res.Moving && due(t, p.recorder.lastMain, p.recorder.pace.main) {
			p.main.Want(t)
			p.recorder.lastMain = t
		}
	}
	p.report(res.Changes)
	if res.Moving {
		for key, s := range p.spans {
			if last, open := p.detector.Last(key); open && key != viewKey {
				p.deps.Out.Touch(s.ID, last)
			}
		}
	}
	p.guardLines(ctx, pic, look)
	p.guardView(ctx, pic, look)
}

// gap ends what is open, because the stream was lost or another one begins.
func (p *Pipeline) gap() {
	p.report(p.detector.Gap())
	p.gapLines()
	p.gapView()
}

// arrived notes that a picture came that can be used: the camera is there, and a gap has ended.
// (One that is damaged says nothing: a camera that sends no other is in trouble, and its source
// says so.)
func (p *Pipeline) arrived(t time.Time) {
	if p.lostWhy != "" {
		if err := p.deps.Ring.Gap(p.cfg.ID, p.lastSeen, t, p.lostWhy); err != nil {
			p.log.Debug("note a gap", "error", err)
		}
		p.lostWhy = ""
	}
	p.lastSeen = t
	p.presence.Set(camera.Online, t)
	if d := t.Sub(p.aliveAt); d < 0 || d >= aliveEvery {
		p.aliveAt = t
		p.presence.Alive(t)
	}
	p.setTrouble(camera.Status{})
}

// idle notes, while no picture comes, that the camera is still away: what ends this may be a power
// cut.
func (p *Pipeline) idle(now time.Time) {
	if p.presence.now.connection != camera.Online.Connection() {
		p.presence.Alive(now)
	}
}

// report makes events of the detector's changes.
func (p *Pipeline) report(changes []motion.Change) {
	for _, c := range changes {
		ev := p.author.Motion(c)
		if p.withhold(c, ev) {
			continue
		}
		switch c.Kind {
		case motion.Began:
			p.began(c.Region, ev)
		case motion.Ended:
			delete(p.spans, c.Region)
			p.log.Info("motion ended", "start", ev.StartTimestamp.String(), "end", ev.EndTimestamp.String(), "region",
				c.Region)
			p.deps.Out.Put(ev)
		}
	}
}

// close ends what is open: the agent stops looking at this camera. After a panic nothing is sure
// but what was noted of the open spans.
func (p *Pipeline) close() {
	_ = supervisor.Caught(func() error { p.gapView(); return nil })()
	_ = supervisor.Caught(func() error { p.gapLines(); return nil })()
	_ = supervisor.Caught(func() error { p.report(p.detector.Gap()); return nil })()
	for region, ev := range p.spans {
		delete(p.spans, region)
		ev.EndTimestamp = vms.Ptr(ev.StartTimestamp.Time)
		if last := p.pace.Last(); last.After(ev.StartTimestamp.Time) {
			ev.EndTimestamp = vms.Ptr(last)
		}
		p.deps.Out.Put(ev)
	}
	p.view.reason.Store(uint32(tamper.None))
	end := p.lastSeen
	if now := p.deps.Now(); p.presence.now.connection != "" && end.Before(p.presence.now.start) {
		end = now
	}
	if p.deps.Stays != nil && p.deps.Stays() {
		p.presence.Leave(p.deps.Now())
	}
	p.presence.Close(end)
	if p.decoder != nil {
		p.decoder.Close()
	}
}
