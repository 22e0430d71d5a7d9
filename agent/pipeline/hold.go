package pipeline

import (
	"context"
	"time"

	"vmsbridge/agent/camera"
	"vmsbridge/agent/codec"
	"vmsbridge/motion"
)

// hold keeps a unit of a group that stays undecoded, or the keyframe of the next one; false: it is
// to be decoded, after what was held, which has been.
func (p *Pipeline) hold(ctx context.Context, u camera.AccessUnit) bool {
	g := &p.gate
	if u.RandomAccess {
		return p.renew(ctx, u)
	}
	if why := g.hold(u); why != "" {
		p.release(ctx, why)
		return false
	}
	p.arrived(u.Time)
	return true
}

// renew takes the keyframe behind a held group. When it shows the same, the group has passed
// undecoded; else it is decoded before the keyframe is looked at.
func (p *Pipeline) renew(ctx context.Context, u camera.AccessUnit) bool {
	g := &p.gate
	if !renews(u) || u.Damaged {
		p.release(ctx, NoIDR)
		return false
	}
	o := p.decode(ctx, []camera.AccessUnit{u})[0]
	pictures := o.Pictures
	if o.Err != nil || !whole(u, pictures) {
		p.again(ctx, Reordered)
		return false
	}
	if !g.view.take(pictures[0]) {
		g.view.back()
		p.again(ctx, Differs)
		return false
	}
	p.stood(ctx, u.Time)
	left := len(g.units) - g.looked
	p.undecoded.count(0, left)
	p.deps.Metrics.unitsUndecoded.WithLabelValues(p.cfg.ID).Add(float64(left))
	p.glances = true
	p.see(ctx, pictures)
	p.glances = false
	g.ended(u)
	g.learns()
	if !p.begins(ctx, u, pictures, true) {
		g.opens(g.why)
	}
	return true
}

// stood tells the detector of what was held that it looked like its keyframe, up to a moment before
// the next one.
func (p *Pipeline) stood(ctx context.Context, next time.Time) {
	g := &p.gate
	last := g.key
	for _, u := range g.units[g.looked:] {
		if u.Time.Sub(last) < standEvery || next.Sub(u.Time) < standEvery || !p.pace.Due(u.Time) {
			continue
		}
		last = u.Time
		l := g.luma
		look := motion.Picture{Luma: l.Luma, Width: l.LumaWidth, Height: l.LumaHeight, Stride: l.LumaWidth,
			Time: u.Time}
		p.report(p.detector.Step(look).Changes)
		p.guardLines(ctx, l, look)
	}
}

// release decodes what is held, behind its keyframe, which the decoder has just had.
func (p *Pipeline) release(ctx context.Context, why Whole) {
	g := &p.gate
	rest := g.units[g.looked:]
	if len(rest) > 0 && !p.feedAll(ctx, rest) {
		p.again(ctx, why)
		return
	}
	g.opens(why)
	p.tellGate()
}

// again decodes what is held from its keyframe on, because the decoder is elsewhere by now.
func (p *Pipeline) again(ctx context.Context, why Whole) {
	g := &p.gate
	p.replayed = p.lookedAt
	_, _ = p.decoder.Flush(ctx)
	p.recorder.Lost()
	_ = p.feedAll(ctx, g.units)
	p.replayed = time.Time{}
	g.opens(why)
	p.tellGate()
}

// feedAll decodes units and looks at their pictures; false: the decoder was lost on the way.
func (p *Pipeline) feedAll(ctx context.Context, units []camera.AccessUnit) bool {
	for len(units) > 0 {
		if units[0].RandomAccess {
			p.waitKey = false
		}
		n := 1
		if p.calm && !units[0].RandomAccess {
			n = min(len(units), codec.MaxTogether)
		}
		p.feed(ctx, units[:n])
		if p.waitKey {
			return false
		}
		units = units[n:]
	}
	return true
}

// Before has a still kept of the newest picture before t where it lies in a group that is held
// undecoded; there is nothing to do otherwise. It waits until that is done, or until ctx is. Safe
// for concurrent use.
func (p *Pipeline) Before(ctx context.Context, t time.Time) {
	p.undecoded.mu.Lock()
	holds := p.undecoded.holds
	p.undecoded.mu.Unlock()
	if !holds {
		return
	}
	w := &heldWish{before: t, done: make(chan struct{})}
	p.queue.put(item{wish: w})
	select {
	case <-w.done:
	case <-ctx.Done():
	}
}

// grant looks after a wish.
func (p *Pipeline) grant(ctx context.Context, w *heldWish) {
	defer close(w.done)
	g := &p.gate
	end := 0
	for end < len(g.units) && g.units[end].Time.Before(w.before) {
		end++
	}
	switch {
	case end == 1 && g.looked == 1:
		keyframe := g.luma
		keyframe.Luma = nil
		p.recorder.Keep(ctx, keyframe, g.key)
		return
	case end <= g.looked:
		return // the newest before it was decoded, or is not here
	}
	p.wished = g.units[end-1].Time
	ok := p.feedAll(ctx, g.units[g.looked:end])
	p.wished = time.Time{}
	if g.looked = end; !ok {
		p.again(ctx, Damaged)
	} else if g.calm.IsZero() {
		p.release(ctx, Moves)
	}
}
