package pipeline

import (
	"context"
	"math"
	"time"

	"vmsbridge/agent/camera"
	"vmsbridge/agent/codec"
	"vmsbridge/motion"
)

// feed decodes access units that follow each other, and looks at the pictures that come out.
func (p *Pipeline) feed(ctx context.Context, units []camera.AccessUnit) {
	for units = p.wanted(units); len(units) > 0; {
		all := p.decode(ctx, units)
		for i, o := range all {
			u := units[i]
			p.inOrder = o.Err == nil && len(o.Pictures) == 1 && o.Pictures[0].PTS == u.Time.UnixMicro()
			if o.Err != nil {
				if ctx.Err() == nil {
					p.decodeFailed(o.Err)
				}
				p.gate.quiet = false
				p.waits(false)
				continue
			}
			p.see(ctx, o.Pictures)
			p.consider(ctx, u, o.Pictures)
		}
		if units = units[len(all):]; p.waitKey {
			units = p.wanted(units)
		}
	}
}

// wanted are those of the units that are to be decoded.
func (p *Pipeline) wanted(units []camera.AccessUnit) []camera.AccessUnit {
	p.chosen = p.chosen[:0]
	for _, u := range units {
		if p.waitKey && !u.RandomAccess {
			p.deps.Metrics.unitsDropped.WithLabelValues(p.cfg.ID).Inc()
			continue
		}
		if p.waitKey = !p.decoder.Wants(u.RandomAccess); p.waitKey {
			p.deps.Metrics.unitsSkipped.WithLabelValues(p.cfg.ID).Inc()
			continue
		}
		p.chosen = append(p.chosen, u)
	}
	return p.chosen
}

// decode decodes units, at least the first. Keyframes come with luma, whatever the pace.
func (p *Pipeline) decode(ctx context.Context, units []camera.AccessUnit) []codec.Decoded {
	pace := p.pace // as it will be
	p.feeds = p.feeds[:0]
	for _, u := range units {
		p.marks.Add(u)
		from := pace.From(u.Time).UnixMicro()
		if u.RandomAccess && p.gate.enabled {
			from = math.MinInt64
		}
		pace.Due(u.Time)
		p.feeds = append(p.feeds, codec.Unit{Data: u.Data, PTS: u.Time.UnixMicro(), LumaFrom: from})
	}
	all := p.decoder.DecodeAll(ctx, p.feeds)
	clear(p.feeds)
	came := 0
	for _, o := range all {
		came += len(o.Pictures)
	}
	p.recorder.Came(came)
	return all
}

// see looks at pictures that came out of the decoder.
func (p *Pipeline) see(ctx context.Context, pictures []codec.Picture) {
	for _, pic := range pictures {
		if p.replayed.IsZero() || time.UnixMicro(pic.PTS).After(p.replayed) {
			p.picture(ctx, pic)
			p.lookedAt = time.UnixMicro(pic.PTS)
		}
		p.recorder.Seen(ctx)
	}
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
	p.obey()
	began := time.Now()
	look := motion.Picture{Luma: pic.Luma, Width: pic.LumaWidth, Height: pic.LumaHeight, Stride: pic.LumaWidth, Time: t}
	p.looks.offer(look)
	res := p.detector.Step(look)
	p.nears.note(t, res, motion.LeastShare(p.cfg.Motion.Sensitivity))
	p.counters.detect.Observe(time.Since(began).Seconds())
	p.counters.pictures.Inc()

	p.recorder.pace = p.deps.Pace.of(p.cfg)
	// Stills first: whoever hears of the event may ask for its image at once.
	p.recorder.Picture(ctx, pic, t, res)
	if t.Equal(p.wished) {
		p.recorder.Keep(ctx, pic, t)
	}
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
	// What may begin is told at once; all else may wait for the next picture. While something
	// moves, only the span of a region can begin.
	begins := res.Candidate
	if res.Moving {
		begins = len(p.cfg.Motion.Regions) > 0
	}
	p.waits(p.inOrder && !begins && len(p.rules.things) == 0 && !p.view.doubts && !p.looks.any() &&
		!p.recorder.pace.watched)
	w := p.view.watch
	p.gate.saw(t, res.Moving || res.Candidate || res.Activity.Learning || len(p.rules.things) > 0 || p.view.doubts ||
		w != nil && w.Unsure() || p.looks.any())
}

// waits has access units wait for the next one, so that they are decoded together, or not.
func (p *Pipeline) waits(yes bool) {
	if p.calm != yes {
		p.calm = yes
		p.queue.Patient(yes)
	}
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

// report makes events of the detector's changes.
func (p *Pipeline) report(changes []motion.Change) {
	if p.rests {
		return
	}
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

// consider takes a unit that was decoded to pictures, and looked at, into the gate.
func (p *Pipeline) consider(ctx context.Context, u camera.AccessUnit, pictures []codec.Picture) {
	g := &p.gate
	if g.holds() { // it comes out of there
		return
	}
	if !g.enabled {
		if u.RandomAccess {
			g.why = Off
			p.tellGate()
		}
		return
	}
	if !u.RandomAccess {
		g.follows(u)
		return
	}
	g.ended(u)
	same := whole(u, pictures) && g.view.take(pictures[0])
	g.learns()
	p.begins(ctx, u, pictures, same)
}

// begins has the gate look at a keyframe that was looked at, as gate.begins says.
func (p *Pipeline) begins(ctx context.Context, u camera.AccessUnit, pictures []codec.Picture, same bool) bool {
	quiet := p.deps.Pace.of(p.cfg).quiet
	holds := p.gate.begins(u, pictures, same, quiet)
	// At the next keyframe it may be too late for a still.
	if holds && u.Time.Add(p.gate.length).Sub(p.recorder.lastPreview) > quiet+stillSlack {
		p.recorder.Keep(ctx, pictures[0], u.Time)
	}
	p.tellGate()
	return holds
}

// stillSlack is how much later than wanted a still may come, for the jitter of capture times.
const stillSlack = 50 * time.Millisecond

// tellGate tells status and metrics what became of the gate.
func (p *Pipeline) tellGate() {
	now := p.gate.why
	before, known := p.undecoded.set(now)
	if known && before == now {
		return
	}
	of := p.deps.Metrics.decodesAll
	if known && before != "" {
		of.DeleteLabelValues(p.cfg.ID, string(before))
	}
	if now != "" {
		of.WithLabelValues(p.cfg.ID, string(now)).Set(1)
	}
}

// obey takes up that the camera was armed or disarmed. Spans of motion, lines and areas that are
// open end when it is disarmed; detector and stills go on as before, so that nothing need be
// learned when it is armed. What moves then begins anew.
func (p *Pipeline) obey() {
	if rests := p.disarmed.Load(); rests != p.rests {
		p.report(p.detector.Pause())
		p.gapLines()
		p.view.told, p.view.withheld = nil, nil
		p.rests = rests
	}
}
