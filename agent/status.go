package agent

import (
	"os"
	"runtime"
	"slices"
	"time"

	"vmsbridge/agent/camera"
	"vmsbridge/agent/codec"
	"vmsbridge/agent/health"
	"vmsbridge/agent/outbound"
	"vmsbridge/agent/pipeline"
	"vmsbridge/configs"
	"vmsbridge/motion/tamper"
	"vmsbridge/storage/stills"
)

// Status is the bridge's state, problems first. Safe for
// concurrent use while it runs. It walks the index of stills, so it is for people and monitors, not
// for pictures.
func (a *Agent) Status() health.Report {
	cfg := a.cfg()
	r := health.Report{Time: a.clock.True(a.clock.Now()), Bridge: cfg.Bridge.ID, Name: cfg.Bridge.Name,
		Version:  a.opts.Version,
		Platform: runtime.GOOS + "/" + runtime.GOARCH, Running: true, PID: os.Getpid(), Started: a.started.UTC(),
		Config:  a.edits.report(cfg.File),
		Cameras: a.CameraStates(), Disk: health.DiskOf(cfg.Bridge.Data, int64(cfg.Stills.MinFree))}
	if l := a.outbound.Service(); l != nil {
		r.Service = &health.Link{URL: cfg.Service.URL, SignedIn: l.SignedIn(), Problem: l.Problem(), Why: l.Why()}
		r.Service.Tunnel, r.Service.TunnelProblem = l.Tunnel()
		r.Service.TunnelUp = r.Service.Tunnel == outbound.TunnelUp
	}
	a.archive.Report(&r)
	a.api.Report(&r)
	a.decoders.Report(&r)
	r.DecoderDeaths = a.pool.Deaths()
	r.Disk.Slow = a.timer.Report(time.Now())
	r.Machine = health.MachineOf(cfg.Bridge.Data)
	now := a.clock.State()
	r.Clock, r.ClockProblem, r.ClockBeside = health.ClockReport(now), a.clock.Problem(), health.ClockBeside(now)
	r.Sinks = a.outbound.Status()
	r.Judge()
	return r
}

// CameraStates is how each camera is, in the order of the configuration. Safe for concurrent use.
func (a *Agent) CameraStates() []health.Camera {
	list, watched := []health.Camera{}, a.pipelines()
	for _, c := range a.cfg().Cameras {
		list = append(list, a.cameraStatus(c, watched[c.ID]))
	}
	armed, _ := a.arming.States()
	for _, s := range armed {
		if i := slices.IndexFunc(list, func(c health.Camera) bool { return c.ID == s.Camera }); i >= 0 {
			list[i].Disarmed, list[i].Switched, list[i].ArmingUntil = !s.Armed, s.ByHand, s.Until
		}
	}
	return list
}

func (a *Agent) cameraStatus(c configs.Camera, p *pipeline.Pipeline) health.Camera {
	s := health.Camera{ID: c.ID, Name: c.Name, State: health.Off}
	s.Preview, _ = a.archive.Ring.Newest(c.ID, stills.Preview)
	s.Main, _ = a.archive.Ring.Newest(c.ID, stills.Main)
	if p == nil {
		return s
	}
	state := p.State()
	s.State, s.Online, s.Reason, s.Since = string(state.State), state.State == camera.Online, state.Reason,
		a.clock.True(state.Since)
	s.Codec, s.Width, s.Height, s.Transport = string(state.Codec), state.Width, state.Height, state.Transport
	if t := p.Tampered(); t != tamper.None {
		s.Tampered = t.String()
	}
	s.Stuck = p.Stuck(time.Now())
	s.Losing, s.Torn = p.Losing()
	if s.Online {
		s.Rate = p.Rate()
	}
	s.MainRefused = p.MainRefused()
	if share, why, ok := p.Undecoded(); ok && s.Online {
		s.Undecoded, s.DecodesAll = share, why.Text()
	}
	if l, ok := a.pool.Load(c.ID); ok {
		s.Decoding = &health.Load{Processor: l.Use, Share: l.Budget, Stage: l.Stage.String(),
			Since: a.clock.True(l.Since), Alone: l.Stage != codec.Shared,
			KeysOnly: l.Stage == codec.KeyframesOnly}
	}
	return s
}
