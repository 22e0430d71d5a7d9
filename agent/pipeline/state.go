package pipeline

import (
	"time"

	"vmsbridge/agent/camera"
)

func (p *Pipeline) setState(s camera.Status) {
	p.mu.Lock()
	p.state = s
	p.mu.Unlock()
	p.log.Info("camera", "state", string(s.State), "reason", s.Reason, "codec", s.Codec, "width", s.Width, "height", s.Height, "transport", s.Transport)
}

// setTrouble notes what keeps the decoder from giving pictures of a camera that is online; zero: nothing does.
func (p *Pipeline) setTrouble(s camera.Status) {
	p.mu.Lock()
	news := s.State != p.trouble.State || s.Reason != p.trouble.Reason
	if news {
		p.trouble = s
	}
	p.mu.Unlock()
	switch {
	case news && s.State != "":
		p.log.Warn("the camera's pictures cannot be decoded", "state", string(s.State), "reason", s.Reason)
	case news:
		p.log.Info("the camera's pictures can be decoded again")
	}
}

// State is what is known of the camera; Connecting until something is. Safe for concurrent use.
func (p *Pipeline) State() camera.Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state.State == camera.Online && p.trouble.State != "" {
		return p.trouble
	}
	return p.state
}

// Losing is the share of the camera's pictures that the decoder did not come to in the last minute, if that goes on. Safe
// for concurrent use.
func (p *Pipeline) Losing() float64 {
	if p.queue == nil { // the zero Pipeline, which panics when it runs
		return 0
	}
	return p.queue.Losing(time.Now())
}

// Turned is when the pipeline's consumer last took something up or found nothing to do, which it does once a minute at least; zero
// before it runs. Safe for concurrent use.
func (p *Pipeline) Turned() time.Time {
	if n := p.turned.Load(); n != 0 {
		return time.Unix(0, n)
	}
	return time.Time{}
}
