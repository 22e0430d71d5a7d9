package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"vmsbridge/agent/camera"
	"vmsbridge/agent/pipeline"
	"vmsbridge/agent/setup"
	"vmsbridge/configs"
	"vmsbridge/uplink/vms"
)

// watchCameras makes the cameras' pipelines.
func (a *Agent) watchCameras(imageBase string) error {
	a.pace = pipeline.NewPace(a.cfg().Stills)
	metrics, streams := pipeline.NewMetrics(a.reg), camera.NewMetrics(a.reg)
	d := pipeline.Deps{Now: a.clock.Now, Ring: a.archive.Stills, Out: a.archive.Events, Pool: a.pool, Metrics: metrics,
		Cameras: streams, Log: a.log,
		Account: a.cfg().Bridge.Account, Pace: a.pace, Version: a.opts.Version, Base: imageBase,
		Gate: a.cfg().Decode.Gate, Economy: a.cfg().Decode.Economy,
		Late: new(pipeline.Late), Resume: a.archive.Resume, Stays: a.stays, Disarmed: a.arming.Disarmed}
	var create func(configs.Camera) (*pipeline.Pipeline, error)
	if own := a.opts.pipeline; own != nil {
		create = func(c configs.Camera) (*pipeline.Pipeline, error) { return own(c, d) }
	}
	a.cameras = pipeline.NewCameras(d, a.reg, create)
	return a.cameras.Set(a.cameras.Tasks(a.cfg().Cameras))
}

// stays reports whether this run ends and leaves its cameras' states open: unless there is a
// service that would not find out that the bridge is not back.
func (a *Agent) stays() bool {
	if !a.stopping() {
		return false
	}
	service := a.outbound.Service()
	return service == nil || service.Remembers()
}

// Cameras lists the cameras in the order of the configuration, with their states. Safe for
// concurrent use.
func (a *Agent) Cameras() []vms.Camera {
	out, watched := []vms.Camera{}, a.pipelines()
	for _, c := range a.cfg().Cameras {
		cam := vms.Camera{ID: c.ID, AccountID: a.cfg().Bridge.Account, Name: c.Name, BridgeID: a.cfg().Bridge.ID,
			CreateTimestamp: vms.At(a.started),
			Status:          &vms.ConnectionStatus{ConnectionStatus: vms.StatusOff}}
		if p, ok := watched[c.ID]; ok {
			cam.Status.ConnectionStatus = connection(p.State())
		}
		out = append(out, cam)
	}
	return out
}

// stillBefore has a still kept of the newest picture of a camera before t, if that waits undecoded.
func (a *Agent) stillBefore(ctx context.Context, camera string, t time.Time) {
	p, ok := a.pipelines()[camera]
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, heldPatience)
	defer cancel()
	p.Before(ctx, a.clock.Back(t))
}

// heldPatience is how long a question for an image may wait for pictures that are not decoded yet.
const heldPatience = time.Second

// pipelines are those of now, by camera; none before there are any.
func (a *Agent) pipelines() map[string]*pipeline.Pipeline {
	list := map[string]*pipeline.Pipeline{}
	if a.cameras != nil {
		for _, p := range a.cameras.Workers() {
			list[p.Name] = p.Worker
		}
	}
	return list
}

// try has a detector with the settings m look at a camera's pictures, beside its own.
func (a *Agent) try(ctx context.Context, camera string, m configs.CameraMotion, tell func(look any) error) error {
	p, ok := a.pipelines()[camera]
	if !ok {
		return &setup.Refusal{Reason: "This camera is not watched now, so nothing can be tried."}
	}
	err := p.Try(ctx, m, func(l pipeline.Look) error { return tell(l) })
	if errors.Is(err, pipeline.ErrSettings) {
		return &setup.Refusal{Reason: err.Error()}
	}
	return err
}

// connection is a camera's state in the interface's words; unknown until the first attempt has
// ended.
func connection(s camera.Status) string {
	if s.State == camera.Connecting {
		return vms.StatusUnknown
	}
	return s.State.Connection()
}

// inShort is what the service manager shows of the bridge.
func inShort(cameras *pipeline.Cameras) string {
	return fmt.Sprintf("watching %d cameras", len(cameras.Workers()))
}
