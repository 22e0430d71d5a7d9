package agent

import (
	"context"
	"sync/atomic"
	"time"

	"vmsbridge/agent/panics"
	"vmsbridge/agent/pipeline"
	"vmsbridge/configs"
)

// Pauses between two lives of a pipeline that ended with an error of ours.
const (
	restartMin = time.Second
	restartMax = 30 * time.Second
)

// post is a camera's place in the agent: it stays, while the pipeline in it may be replaced.
type post struct {
	cfg     configs.Camera
	rooms   pipeline.Rooms
	current atomic.Pointer[pipeline.Pipeline]
}

// supervise runs the camera's pipeline, and a new one whenever it fails, until ctx is done.
func (a *Agent) supervise(ctx context.Context, s *post) error {
	pause := restartMin
	for {
		began := time.Now()
		err := panics.Caught(func() error { return s.current.Load().Run(ctx) })()
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
		if next, err := pipeline.New(s.cfg, s.rooms); err == nil {
			s.current.Store(next)
		}
	}
}
