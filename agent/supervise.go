package agent

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"

	"vmsbridge/configs"
)

// Pauses between two lives of a pipeline that ended with an error of ours.
const (
	restartMin = time.Second
	restartMax = 30 * time.Second
)

// guard makes an error of a panic, so that one camera's bug never takes the process.
func guard(f func() error) func() error {
	return func() (err error) {
		defer func() {
			if r := recover(); r != nil {
				err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
			}
		}()
		return f()
	}
}

// post is a camera's place in the agent: it stays, while the pipeline in it may be replaced.
type post struct {
	cfg     configs.Camera
	rooms   rooms
	current atomic.Pointer[pipeline]
}

// supervise runs the camera's pipeline, and a new one whenever it fails, until ctx is done.
func (a *Agent) supervise(ctx context.Context, s *post) error {
	pause := restartMin
	for {
		began := time.Now()
		err := guard(func() error { return s.current.Load().Run(ctx) })()
		if ctx.Err() != nil {
			return nil
		}
		a.m.restarts.WithLabelValues(s.cfg.ID).Inc()
		a.log.Error("a camera's pipeline failed; it starts again", "camera", s.cfg.ID, "error", err, "pause", pause)
		if time.Since(began) > time.Minute {
			pause = restartMin
		}
		sleep(ctx, pause)
		pause = min(2*pause, restartMax)
		if next, err := newPipeline(s.cfg, s.rooms, a.log); err == nil {
			s.current.Store(next)
		}
	}
}
