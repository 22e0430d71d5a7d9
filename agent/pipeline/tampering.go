package pipeline

import (
	"context"
	"time"

	"vmsbridge/agent/codec"
	"vmsbridge/motion"
	"vmsbridge/motion/tamper"
	"vmsbridge/uplink/vms"
)

const (
	// viewKey is the place of a tamper span among a pipeline's spans; no region's id can have a
	// slash.
	viewKey = "/view"
	// withholdFor is the least time between the starts of two spans of motion of one region that
	// are reported while the view is covered or blinded. A hand that trembles before the lens, or a
	// lamp, else makes one after the other; and if it was no tampering after all, motion is still
	// heard of.
	withholdFor = time.Minute
	// doubtStills is the least time between two stills kept because the view began to look tampered
	// with.
	doubtStills = 2 * time.Second
)

// Tampered is what was done to the camera's view, as far as it is known. Safe for concurrent use.
func (p *Pipeline) Tampered() tamper.Reason { return tamper.Reason(p.view.reason.Load()) }

// guardView looks whether the view is the camera's own. A still is kept of the first picture that
// is not, before anyone hears of it.
func (p *Pipeline) guardView(ctx context.Context, pic codec.Picture, look motion.Picture) {
	w := p.view.watch
	if w == nil {
		return
	}
	began := time.Now()
	step := w.Step
	if p.glances {
		step = w.Glance
	}
	changes := step(look)
	p.counters.tamper.Observe(time.Since(began).Seconds())
	_, doubts := w.Doubt()
	if doubts && !p.view.doubts && due(look.Time, p.view.doubted, doubtStills) {
		p.view.doubted = look.Time
		p.keepView(ctx, pic, look.Time)
	}
	p.view.doubts = doubts
	for _, c := range changes {
		if c.Kind == tamper.Began {
			p.keepView(ctx, pic, look.Time)
		}
	}
	p.reportView(changes)
	if ev, open := p.spans[viewKey]; open {
		_, last := w.Open()
		p.deps.Out.Touch(ev.ID, last)
	}
}

// keepView keeps a picture in both sizes, whatever the recorder's pace says.
func (p *Pipeline) keepView(ctx context.Context, pic codec.Picture, t time.Time) {
	p.recorder.Keep(ctx, pic, t)
	if p.main != nil {
		p.main.Want(t)
	}
}

// gapView ends the span that is open: the stream was lost.
func (p *Pipeline) gapView() {
	if w := p.view.watch; w != nil {
		p.view.doubts = false
		p.reportView(w.Gap())
	}
}

// reportView makes events of what the watch found.
func (p *Pipeline) reportView(changes []tamper.Change) {
	for _, c := range changes {
		ev := p.author.Tamper(c)
		switch c.Kind {
		case tamper.Began:
			p.spans[viewKey] = ev
			p.deps.Metrics.spans.WithLabelValues(p.cfg.ID, ev.Type).Inc()
			p.setTampered(c.Reason)
			p.log.Warn("the view was tampered with", "reason", c.Reason.String(), "start", ev.StartTimestamp.String())
		case tamper.Ended:
			delete(p.spans, viewKey)
			p.setTampered(tamper.None)
			p.log.Info("the view is as it should be", "reason", c.Reason.String(), "start", ev.StartTimestamp.String(),
				"end", ev.EndTimestamp.String(), "accepted", c.Accepted)
		}
		p.deps.Out.Put(ev)
	}
}

func (p *Pipeline) setTampered(r tamper.Reason) {
	p.view.reason.Store(uint32(r))
	value := 0.0
	if r != tamper.None {
		value = 1
	}
	p.deps.Metrics.tampered.WithLabelValues(p.cfg.ID).Set(value)
	p.view.told = nil
	// What was withheld and still goes on is news now.
	withheld := p.view.withheld
	p.view.withheld = nil
	for region, ev := range withheld {
		p.began(region, ev)
	}
}

// withhold tells whether a change of motion is not to be reported now. Of each region and of the
// whole picture, the first span that begins while the view is covered or blinded is, and then one
// in the minute.
func (p *Pipeline) withhold(c motion.Change, ev vms.Event) bool {
	v := &p.view
	if c.Kind == motion.Ended {
		_, held := v.withheld[c.Region]
		delete(v.withheld, c.Region)
		return held
	}
	if r := p.Tampered(); r != tamper.Covered && r != tamper.Blinded {
		return false
	}
	if last, ok := v.told[c.Region]; ok && !due(c.Start, last, withholdFor) {
		if v.withheld == nil {
			v.withheld = map[string]vms.Event{}
		}
		v.withheld[c.Region] = ev
		p.deps.Metrics.withheld.WithLabelValues(p.cfg.ID).Inc()
		return true
	}
	if v.told == nil {
		v.told = map[string]time.Time{}
	}
	v.told[c.Region] = c.Start
	return false
}
