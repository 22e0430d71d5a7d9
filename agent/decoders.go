package agent

import (
	"context"
	"sync"
	"time"

	"vmsbridge/agent/codec"
	"vmsbridge/agent/status"
)

// decoders is what this machine can decode, as far as it was looked at. The zero value is ready.
type decoders struct {
	mu    sync.Mutex
	known seen
}

type seen struct {
	codec.Capabilities
	looked  bool
	problem string // why it could not be looked at
}

func (d *decoders) get() seen {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.known
}

// lookPatience bounds the look: a slow card loads a library for seconds.
const lookPatience = time.Minute

// lookAtDecoders finds out once what this machine can decode: that costs a process for a moment.
func (a *Agent) lookAtDecoders(ctx context.Context) error {
	within, cancel := context.WithTimeout(ctx, lookPatience)
	defer cancel()
	found, err := a.pool.Capabilities(within)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	s := seen{Capabilities: found, looked: true}
	if err != nil {
		s.problem = err.Error()
	}
	a.decoders.mu.Lock()
	a.decoders.known = s
	a.decoders.mu.Unlock()
	for name, c := range map[string]codec.Capability{"H.264": found.H264, "H.265": found.H265, "JPEG": found.JPEG} {
		if err == nil && !c.OK {
			a.log.Warn("a decoder is missing", "format", name, "problem", c.Problem, "hint", c.Hint)
		}
	}
	return nil
}

// judgeDecoders says what is missing.
func (a *Agent) judgeDecoders(_ *status.Report, wrong complain) {
	s := a.decoders.get()
	if s.problem != "" {
		wrong(status.Decoder, "the decoders cannot be asked", "vmsbridge version", "the decoders cannot be asked: %s", s.problem)
	}
	if !s.looked || s.problem != "" {
		return
	}
	for _, d := range []struct {
		name string
		c    codec.Capability
	}{{"H.264", s.H264}, {"H.265", s.H265}, {"JPEG", s.JPEG}} {
		if !d.c.OK {
			wrong(status.Decoder, "the decoder for "+d.name+" is missing", d.c.Hint, "%s cannot be decoded: %s", d.name, d.c.Problem)
		}
	}
}
