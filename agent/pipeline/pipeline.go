package pipeline

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"vmsbridge/agent/camera"
	"vmsbridge/agent/codec"
	"vmsbridge/agent/supervisor"
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
			p.status(ctx, *it.status)
		case it.wish != nil:
			p.grant(ctx, it.wish)
		default:
			p.unit(ctx, it.unit)
		}
	}
	return ctx.Err()
}

// status handles a change of the camera's state, in its place between the access units.
func (p *Pipeline) status(ctx context.Context, s camera.Status) {
	if s.State != camera.Online && s.State != camera.Connecting {
		if p.gate.holds() {
			p.release(ctx, Damaged)
		}
		p.gap()
		p.lostWhy = s.Reason
	}
	if s.State != camera.Online {
		p.presence.Set(s.State, s.Since)
	}
}

// unit takes one access unit: it is decoded, or held in a group that stays undecoded.
func (p *Pipeline) unit(ctx context.Context, u camera.AccessUnit) {
	if u.NewStream || p.decoder == nil {
		p.begin(ctx, u)
	}
	p.undecoded.count(1, 0)
	if p.gate.holds() && p.hold(ctx, u) {
		return
	}
	p.some = append(p.some[:0], u)
	if p.calm {
		p.some = p.queue.Follow(p.some, codec.MaxTogether)
		p.undecoded.count(len(p.some)-1, 0)
	}
	p.feed(ctx, p.some)
}

// begin opens a decoder for a new stream.
func (p *Pipeline) begin(ctx context.Context, u camera.AccessUnit) {
	if p.gate.holds() {
		p.release(ctx, Learning)
	}
	if p.decoder != nil {
		p.decoder.Close()
	}
	p.gate = gate{enabled: p.deps.Gate || p.deps.Economy, economy: p.deps.Economy}
	p.gap()
	format := codec.Format(u.Codec)
	p.decoder = p.deps.Pool.Open(p.cfg.ID, format, LumaPixels)
	p.recorder.Lost()
	p.waits(false)
	p.marks = marks{keepData: format == codec.MJPEG}
	p.waitKey = true
}

// gap ends what is open, because the stream was lost or another one begins.
func (p *Pipeline) gap() {
	p.report(p.detector.Gap())
	p.gapLines()
	p.gapView()
}

// idle notes, while no picture comes, that the camera is still away: what ends this may be a power
// cut.
func (p *Pipeline) idle(now time.Time) {
	if p.presence.now.connection != camera.Online.Connection() {
		p.presence.Alive(now)
	}
}

// close ends what is open: the agent stops looking at this camera. After a panic nothing is sure
// but what was noted of the open spans.
func (p *Pipeline) close() {
	p.looks.close()
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
