package crew

import (
	"context"
	"sync/atomic"
	"time"

	"vmsbridge/agent/panics"
	"vmsbridge/agent/pipeline"
	"vmsbridge/configs"
)

// Post is a camera's place: it stays while the pipeline in it may be replaced.
type Post struct {
	section configs.Camera
	current atomic.Pointer[pipeline.Pipeline]

	cancel context.CancelFunc // set by start; both belong to the goroutine of Crew.Run
	done   chan struct{}      // closed when nothing of it runs any more
}

func newPost(section configs.Camera, first *pipeline.Pipeline) *Post {
	p := &Post{section: section}
	p.current.Store(first)
	return p
}

// Section is the camera's section of the configuration, which must not be changed.
func (p *Post) Section() configs.Camera { return p.section }

// Pipeline is the one that works here now.
func (p *Post) Pipeline() *pipeline.Pipeline { return p.current.Load() }

func (p *Post) start(ctx context.Context, c *Crew) {
	ctx, p.cancel = context.WithCancel(ctx)
	p.done = make(chan struct{})
	c.restarts.WithLabelValues(p.section.ID) // a series that begins at 0 shows its first step
	go func() {
		defer close(p.done)
		p.supervise(ctx, c)
	}()
}

// stop ends the post and waits.
func (p *Post) stop() {
	if p.cancel != nil {
		p.cancel()
		<-p.done
	}
}

// supervise runs the camera's pipeline, and a new one whenever it fails, until ctx is done.
func (p *Post) supervise(ctx context.Context, c *Crew) {
	pause := restartMin
	for {
		began := time.Now()
		err := panics.Caught(func() error { return p.current.Load().Run(ctx) })()
		if ctx.Err() != nil {
			return
		}
		c.restarts.WithLabelValues(p.section.ID).Inc()
		c.opts.Log.Error("a camera's pipeline failed; it starts again", "camera", p.section.ID, "error", err, "pause", pause)
		if time.Since(began) > time.Minute {
			pause = restartMin
		}
		wait(ctx, pause)
		pause = min(2*pause, restartMax)
		if next, err := c.opts.Make(p.section); err == nil {
			p.current.Store(next)
		}
	}
}

func wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}
