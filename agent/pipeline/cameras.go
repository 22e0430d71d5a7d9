package pipeline

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"vmsbridge/agent/supervisor"
	"vmsbridge/configs"
)

// Cameras keeps a pipeline running for each enabled camera of the configuration.
type Cameras struct {
	*supervisor.Supervisor[*Pipeline]
	create func(configs.Camera) (*Pipeline, error)
}

// NewCameras makes the supervisor of all pipelines, with the metric of their restarts. create makes
// a camera's pipeline and starts nothing; forget is told of a camera that is no longer watched.
func NewCameras(d Deps, r prometheus.Registerer, create func(configs.Camera) (*Pipeline, error)) *Cameras {
	restarts := promauto.With(r).NewCounterVec(prometheus.CounterOpts{
		Name: "vmsbridge_agent_pipeline_restarts_total",
		Help: "Pipelines that ended with an error and were started again.",
	}, []string{"camera"})
	forget := func(id string) { d.Metrics.Forget(id); d.Cameras.Forget(id); d.Pool.Forget(id) }
	if create == nil {
		create = func(c configs.Camera) (*Pipeline, error) { return New(c, d) }
	}
	return &Cameras{create: create, Supervisor: supervisor.New[*Pipeline](supervisor.Options{
		Label: "camera", Failed: "a camera's pipeline failed; it starts again", Restarts: restarts, Forget: forget,
		Log: d.Log})}
}

// Tasks are the enabled cameras of a configuration.
func (c *Cameras) Tasks(list []configs.Camera) []supervisor.Task[*Pipeline] {
	tasks := make([]supervisor.Task[*Pipeline], 0, len(list))
	for _, section := range list {
		if section.Enabled {
			config := section
			config.Arm = configs.CameraArm{} // another schedule is no reason to start anew
			tasks = append(tasks, supervisor.Task[*Pipeline]{Name: section.ID, Config: config,
				New: func() (*Pipeline, error) { return c.create(section) }})
		}
	}
	return tasks
}

// Move asks the supervisor for a sign of life, and looks for one pipeline at least that comes
// round.
func (c *Cameras) Move(ctx context.Context) error {
	if err := c.Ping(ctx); err != nil {
		return err
	}
	list, now := c.Workers(), time.Now()
	for _, p := range list {
		if !p.Worker.Stuck(now) {
			return nil
		}
	}
	if len(list) == 0 {
		return nil
	}
	return fmt.Errorf("all %d pipelines stand still", len(list))
}
