package health

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"vmsbridge/agent/codec"
)

// Decoders is what this machine can decode, as far as it was looked at. The zero value is ready,
// and safe for concurrent use.
type Decoders struct {
	mu      sync.Mutex // guards the rest
	found   codec.Capabilities
	looked  bool
	problem string // why it could not be looked at
}

// lookPatience bounds the look: a slow card loads a library for seconds.
const lookPatience = time.Minute

// Look finds out once what this machine can decode: that costs a process for a moment.
func (d *Decoders) Look(ctx context.Context, pool *codec.Pool, log *slog.Logger) error {
	within, cancel := context.WithTimeout(ctx, lookPatience)
	defer cancel()
	found, err := pool.Capabilities(within)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	d.mu.Lock()
	d.found, d.looked = found, true
	if err != nil {
		d.problem = err.Error()
	}
	d.mu.Unlock()
	for _, f := range formats(found) {
		if err == nil && !f.OK {
			log.Warn("a decoder is missing", "format", f.name, "problem", f.Problem, "hint", f.Hint)
		}
	}
	return nil
}

// Report fills in the decoders that were found.
func (d *Decoders) Report(r *Report) {
	d.mu.Lock()
	defer d.mu.Unlock()
	r.Decoders, r.DecodersKnown, r.DecodersProblem = d.found, d.looked && d.problem == "", d.problem
}
