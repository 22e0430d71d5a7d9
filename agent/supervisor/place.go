package supervisor

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// place is where the workers of one task run, one after the other.
type place[W Worker] struct {
	task    Task[W]
	current atomic.Pointer[W]

	cancel context.CancelFunc // set by start; both belong to the goroutine of Supervisor.Run
	done   chan struct{}      // closed when nothing of it runs any more
}

func newPlace[W Worker](task Task[W]) (*place[W], error) {
	first, err := task.New()
	if err != nil {
		return nil, err
	}
	p := &place[W]{task: task}
	p.current.Store(&first)
	return p, nil
}

func (p *place[W]) start(ctx context.Context, o Options) {
	ctx, p.cancel = context.WithCancel(ctx)
	p.done = make(chan struct{})
	if o.Restarts != nil {
		o.Restarts.WithLabelValues(p.task.Name) // a series that begins at 0 shows its first step
	}
	go func() {
		defer close(p.done)
		p.keep(ctx, o)
	}()
}

// stop ends the worker and waits.
func (p *place[W]) stop() {
	if p.cancel != nil {
		p.cancel()
		<-p.done
	}
}

// keep runs the worker, and a new one whenever it fails, until ctx is done.
func (p *place[W]) keep(ctx context.Context, o Options) {
	pause := o.Backoff
	for {
		began := time.Now()
		err := Caught(func() error { return (*p.current.Load()).Run(ctx) })()
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			err = errors.New("it ended")
		}
		if o.Restarts != nil {
			o.Restarts.WithLabelValues(p.task.Name).Inc()
		}
		wait := pause.Failed(time.Since(began))
		o.Log.Error(o.Failed, o.Label, p.task.Name, "error", err, "pause", wait)
		if Sleep(ctx, wait) != nil {
			return
		}
		if next, err := p.task.New(); err == nil {
			p.current.Store(&next)
		}
	}
}
