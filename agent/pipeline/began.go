package pipeline

import "vmsbridge/uplink/vms"

// began reports a span of motion that has begun.
func (p *Pipeline) began(region string, ev vms.Event) {
	p.spans[region] = ev
	p.deps.Metrics.spans.WithLabelValues(p.cfg.ID, ev.Type).Inc()
	// Before the event, which is stored with it: what is confirmed has a length, whatever comes
	// next.
	last, _ := p.detector.Last(region)
	if !last.After(ev.StartTimestamp.Time) {
		last = p.lastSeen
	}
	p.deps.Out.Touch(ev.ID, last)
	p.log.Info("motion began", "start", ev.StartTimestamp.String(), "confirmed", vms.At(p.lastSeen).String(), "region",
		region)
	p.deps.Out.Put(ev)
}
