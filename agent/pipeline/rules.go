package pipeline

import (
	"context"
	"time"

	"vmsbridge/agent/codec"
	"vmsbridge/motion"
	"vmsbridge/motion/rule"
	"vmsbridge/motion/tamper"
)

// The places of the areas' spans among a pipeline's spans; no region's id can have a slash.
const (
	intrusionKey = "/intrusion/"
	loiterKey    = "/loiter/"
)

// guardLines looks whether something crosses a line or is in an area. A still is kept of the
// picture that shows it, before anyone hears of it. What a covered or blinded camera sees crosses
// nothing.
func (p *Pipeline) guardLines(ctx context.Context, pic codec.Picture, look motion.Picture) {
	w := p.rules.watch
	if w == nil {
		return
	}
	if r := p.Tampered(); r == tamper.Covered || r == tamper.Blinded {
		p.gapLines()
		return
	}
	p.rules.things = p.detector.Things(p.rules.things[:0])
	changes := w.Step(look, p.rules.things)
	for _, c := range changes {
		if c.Kind == rule.Crossed || c.Kind.Began() {
			p.keepView(ctx, pic, look.Time)
			break
		}
	}
	p.reportLines(changes)
	w.Each(func(kind rule.Kind, id string, last time.Time) {
		if ev, open := p.spans[ruleKey(kind, id)]; open {
			p.deps.Out.Touch(ev.ID, last)
		}
	})
}

// gapLines ends what is open: the stream was lost.
func (p *Pipeline) gapLines() {
	if w := p.rules.watch; w != nil {
		p.reportLines(w.Gap())
	}
}

// reportLines makes events of what the watch over lines and areas found.
func (p *Pipeline) reportLines(changes []rule.Change) {
	if p.rests {
		return
	}
	for _, c := range changes {
		if c.Kind == rule.Crossed {
			ev := p.author.Crossing(c)
			p.deps.Metrics.crossings.WithLabelValues(p.cfg.ID, c.Rule, string(c.Direction)).Inc()
			p.log.Info("line crossed", "line", c.Rule, "direction", string(c.Direction), "at",
				ev.StartTimestamp.String(), "object", c.Object)
			p.deps.Out.Put(ev)
			continue
		}
		ev, key := p.author.Inside(c), ruleKey(c.Kind, c.Rule)
		if !c.Kind.Began() {
			delete(p.spans, key)
			p.log.Info("area left", "area", c.Rule, "type", ev.Type, "start", ev.StartTimestamp.String(), "end",
				ev.EndTimestamp.String())
			p.deps.Out.Put(ev)
			continue
		}
		p.spans[key] = ev
		p.deps.Metrics.spans.WithLabelValues(p.cfg.ID, ev.Type).Inc()
		p.deps.Out.Touch(ev.ID, c.Last)
		p.log.Info("area entered", "area", c.Rule, "type", ev.Type, "start", ev.StartTimestamp.String(), "object",
			c.Object)
		p.deps.Out.Put(ev)
	}
}

// ruleKey is the place of an area's span among a pipeline's spans.
func ruleKey(kind rule.Kind, id string) string {
	if kind == rule.LoiterBegan || kind == rule.LoiterEnded {
		return loiterKey + id
	}
	return intrusionKey + id
}
