package pipeline

import (
	"context"
	"errors"
	"time"

	"vmsbridge/agent/camera"
	"vmsbridge/agent/codec"
	"vmsbridge/agent/sight"
	"vmsbridge/motion"
	"vmsbridge/uplink/vms"
)

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
		p.rooms.Metrics.unitsDropped.WithLabelValues(p.cfg.ID).Inc()
		return
	}
	if !p.decoder.Wants(u.RandomAccess) {
		p.waitKey = true
		p.rooms.Metrics.unitsSkipped.WithLabelValues(p.cfg.ID).Inc()
		return
	}
	p.waitKey = false
	p.marks.Add(u)
	pictures, err := p.decoder.Decode(ctx, u.Data, u.Time.UnixMicro())
	if err != nil {
		if ctx.Err() == nil {
			p.decodeFailed(err)
		}
		return
	}
	for _, pic := range pictures {
		p.picture(ctx, pic)
	}
}

// begin opens a decoder for a new stream.
func (p *Pipeline) begin(u camera.AccessUnit) {
	if p.decoder != nil {
		p.decoder.Close()
	}
	p.gap()
	format := codec.Format(u.Codec)
	p.decoder = p.rooms.Pool.Open(p.cfg.ID, format, sight.LumaPixels)
	p.marks = marks{keepData: format == codec.MJPEG}
	p.waitKey = true
}

// picture looks at one decoded picture.
func (p *Pipeline) picture(ctx context.Context, pic codec.Picture) {
	t := time.UnixMicro(pic.PTS).UTC()
	if p.marks.Damaged(pic.PTS) {
		p.rooms.Metrics.damaged.WithLabelValues(p.cfg.ID).Inc()
		return
	}
	p.arrived(t)
	if !p.pace.Due(t) {
		return
	}
	began := time.Now()
	look := motion.Picture{Luma: pic.Luma, Width: pic.LumaWidth, Height: pic.LumaHeight, Stride: pic.LumaWidth, Time: t}
	res := p.detector.Step(look)
	p.rooms.Metrics.detect.WithLabelValues(p.cfg.ID).Observe(time.Since(began).Seconds())
	p.rooms.Metrics.pictures.WithLabelValues(p.cfg.ID).Inc()

	p.recorder.pace = p.rooms.Pace.of(p.cfg)
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
				p.rooms.Out.Touch(s.ID, last)
			}
		}
	}
	p.guardView(ctx, pic, look)
}

// gap ends what is open, because the stream was lost or another one begins.
func (p *Pipeline) gap() {
	p.report(p.detector.Gap())
	p.gapView()
}

// arrived notes that a picture came that can be used: the camera is there, and a gap has ended. (One that is damaged says
// nothing: a camera that sends no other is in trouble, and its source says so.)
func (p *Pipeline) arrived(t time.Time) {
	if p.lostWhy != "" {
		if err := p.rooms.Ring.Gap(p.cfg.ID, p.lastSeen, t, p.lostWhy); err != nil {
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

// idle notes, while no picture comes, that the camera is still away: what ends this may be a power cut.
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
			p.log.Info("motion ended", "start", ev.StartTimestamp.String(), "end", ev.EndTimestamp.String(), "region", c.Region)
			p.rooms.Out.Put(ev)
		}
	}
}

// began reports a span of motion that has begun.
func (p *Pipeline) began(region string, ev vms.Event) {
	p.spans[region] = ev
	p.rooms.Metrics.spans.WithLabelValues(p.cfg.ID, ev.Type).Inc()
	// Before the event, which is stored with it: what is confirmed has a length, whatever comes next.
	last, _ := p.detector.Last(region)
	if !last.After(ev.StartTimestamp.Time) {
		last = p.lastSeen
	}
	p.rooms.Out.Touch(ev.ID, last)
	p.log.Info("motion began", "start", ev.StartTimestamp.String(), "confirmed", vms.At(p.lastSeen).String(), "region", region)
	p.rooms.Out.Put(ev)
}

// Still makes the JPEG of a picture: an MJPEG camera's own bytes, whatever their width, where they are good; else the
// decoder's.
func (p *Pipeline) Still(ctx context.Context, pic codec.Picture, maxWidth int) ([]byte, error) {
	if own := p.marks.Data(pic.PTS); own != nil {
		if _, _, err := codec.CheckJPEG(own); err == nil {
			return own, nil
		}
	}
	return p.decoder.Still(ctx, pic.PTS, maxWidth, p.rooms.Pace.quality())
}

func (p *Pipeline) stillFailed(err error) {
	p.rooms.Metrics.stillFailures.WithLabelValues(p.cfg.ID).Inc()
	if errors.Is(err, codec.ErrLost) {
		p.waitKey = true
	}
	p.grumble.say(p.log, "a still could not be kept", err)
}

func (p *Pipeline) decodeFailed(err error) {
	p.rooms.Metrics.decodeFailures.WithLabelValues(p.cfg.ID).Inc()
	switch unsupported := (*codec.UnsupportedError)(nil); {
	case errors.Is(err, codec.ErrLost):
		p.waitKey = true
	case errors.As(err, &unsupported):
		p.waitKey = true
		p.setTrouble(camera.Status{State: camera.UnsupportedCodec, Reason: unsupported.Error(), Since: p.rooms.Now()})
		p.presence.Set(camera.UnsupportedCodec, p.rooms.Now())
	}
	p.grumble.say(p.log, "an access unit could not be decoded", err)
}
