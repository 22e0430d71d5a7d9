package codec

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// charge notes what a call of d has cost.
func (p *Pool) charge(g *group, d *Decoder, cost time.Duration) {
	owner := d.owner
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.owners[owner] != g {
		return // it was closed, or moved, meanwhile
	}
	if d.spent == nil {
		d.spent, d.stage = p.metrics.spent.WithLabelValues(owner), p.metrics.stage.WithLabelValues(owner)
	}
	d.spent.Add(max(cost, 0).Seconds())
	changed := p.shares.charge(owner, cost, time.Now(), maps.Keys(g.members))
	o := p.shares.owners[owner]
	d.stage.Set(float64(o.stage))
	if changed {
		p.log.Warn("a camera's share of decoding time", "camera", owner, "decoded", o.stage.String(),
			"uses_of_a_processor", o.use, "may_use", o.budget,
			"last_call", cost)
	}
}

// roomLocked is the process that one more camera joins; nil: one of its own, which others may join.
// pool.mu is held.
func (p *Pool) roomLocked() *group {
	var least *group
	shared := 0
	for _, g := range p.groups {
		if g.alone {
			continue
		}
		shared++
		if len(g.members) < cmp.Or(p.options.PerProcess, fewPerProcess) {
			return g
		}
		if least == nil || len(g.members) < len(least.members) {
			least = g
		}
	}
	if p.options.PerProcess > 0 || float64(shared) < p.shares.processors || len(least.members) >= manyPerProcess ||
		p.shares.total(maps.Keys(least.members), time.Now()) > crowded/2 {
		return nil
	}
	return least
}

// settleLocked gives owner the kind of process that it is to have, if it has another: at a
// keyframe, which costs it no picture, or else after a moment. pool.mu is held.
func (p *Pool) settleLocked(owner string, keyframe bool) {
	g, o := p.owners[owner], p.shares.owners[owner]
	alone := p.aloneLocked(owner)
	if g == nil || o == nil || p.closed || g.alone == alone || !keyframe && time.Since(o.since) < patience {
		return
	}
	if alone && len(g.members) == 1 {
		g.alone = true
		if proc := g.proc.Load(); proc != nil && g.pool.overLocked(g) {
			proc.yield()
		}
		return
	}
	for _, d := range g.members[owner] {
		d.group = nil
		g.leaving = append(g.leaving, d)
	}
	delete(g.members, owner)
	delete(p.owners, owner)
	if len(g.members) == 0 {
		p.groups = slices.DeleteFunc(p.groups, func(other *group) bool { return other == g })
		g.endLocked()
		return
	}
	g.nudge()
}

// overLocked says whether a camera of a process takes more than its share. One that has a process
// of its own because it broke another yields to nobody: it may be innocent. pool.mu is held.
func (p *Pool) overLocked(g *group) bool {
	for owner := range g.members {
		if o := p.shares.owners[owner]; o != nil && o.stage != Shared {
			return true
		}
	}
	return false
}

// Load is what a camera costs; false if it has not been decoded yet.
func (p *Pool) Load(owner string) (Load, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	o := p.shares.owners[owner]
	if o == nil {
		return Load{}, false
	}
	return Load{Use: p.shares.now(o, time.Now()), Budget: o.budget, Stage: o.stage, Since: o.since}, true
}

// Forget drops what is known of a camera that is no longer watched.
func (p *Pool) Forget(owner string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.shares.owners, owner)
	p.metrics.spent.DeleteLabelValues(owner)
	p.metrics.stage.DeleteLabelValues(owner)
}
