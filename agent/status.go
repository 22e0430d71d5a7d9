package agent

import (
	"os"
	"runtime"
	"syscall"
	"time"

	"vmsbridge/agent/camera"
	"vmsbridge/agent/codec"
	"vmsbridge/agent/pipeline"
	"vmsbridge/agent/status"
	"vmsbridge/configs"
	"vmsbridge/motion/tamper"
	"vmsbridge/storage/stills"
	"vmsbridge/uplink/vms"
)

// Status is everything that the bridge knows of itself now, what is wrong first. Safe for concurrent use while it runs. It walks
// the index of stills, so it is for people and monitors, not for pictures.
func (a *Agent) Status() status.Report {
	cfg := a.cfg()
	r := status.Report{Time: a.clock.True(a.clock.Now()), Bridge: cfg.Bridge.ID, Name: cfg.Bridge.Name, Version: a.opts.Version,
		Platform: runtime.GOOS + "/" + runtime.GOARCH, Running: true, PID: os.Getpid(), Started: a.started.UTC(), Problems: []status.Problem{},
		Config: a.edits.report(cfg.File), Cameras: []status.Camera{}, Disk: space(cfg), Decoders: a.decoders.get().Capabilities}
	watched := a.pipelines()
	for _, c := range cfg.Cameras {
		r.Cameras = append(r.Cameras, a.cameraStatus(c, watched[c.ID]))
	}
	if a.tie != nil {
		l := a.tie.Now()
		r.Service = &status.Link{URL: cfg.Service.URL, SignedIn: l.SignedIn(), Problem: l.Problem()}
		r.Service.Tunnel, _ = l.Tunnel()
	}
	ring := a.ring.Stats()
	r.Stills = status.Stills{Stills: ring.Stills, Bytes: ring.Bytes, Most: int64(cfg.Stills.MaxSize), Oldest: ring.Oldest}
	if ring.DamagedRecords+ring.DamagedSegments > 0 {
		r.Stills.Damaged = stills.Damage{Stills: int(ring.DamagedRecords), Segments: int(ring.DamagedSegments)}.String()
	}
	if st, err := a.journal.OutboxStats(); err == nil {
		r.Outbox = status.Outbox{Waiting: st.Waiting, Parked: st.Parked}
		if !st.Oldest.IsZero() {
			r.Outbox.Oldest = vms.Ptr(st.Oldest)
		}
		r.Journal.Events, r.Journal.Bytes = st.Events, st.Bytes
	}
	if d := a.journal.Damage(); d != nil {
		r.Journal.Damaged = d.String()
	}
	if err := a.failing(); err != nil {
		r.Journal.Failing, r.Journal.Remedy = err.Error(), remedy(err)
	}
	r.Users = a.people.status()
	r.Certificate = a.cert.own(cfg)
	r.Disk.Slow = a.disk.report(time.Now())
	r.Clock = clockStatus(a.clock.State())
	r.Homes = a.homes.Status()
	a.judge(&r)
	r.Sort()
	return r
}

// stuckAfter is how long a camera's pipeline may take over one thing before it counts as standing still. It comes round once a
// minute when there is nothing to do, and a decoder that hangs is replaced within seconds.
const stuckAfter = 3 * time.Minute

func (a *Agent) cameraStatus(c configs.Camera, p *pipeline.Pipeline) status.Camera {
	s := status.Camera{ID: c.ID, Name: c.Name, State: status.Off}
	s.Preview, _ = a.ring.Newest(c.ID, stills.Preview)
	s.Main, _ = a.ring.Newest(c.ID, stills.Main)
	if p == nil {
		return s
	}
	state := p.State()
	s.State, s.Online, s.Reason, s.Since = string(state.State), state.State == camera.Online, state.Reason, a.clock.True(state.Since)
	s.Codec, s.Width, s.Height, s.Transport = string(state.Codec), state.Width, state.Height, state.Transport
	if t := p.Tampered(); t != tamper.None {
		s.Tampered = t.String()
	}
	s.Stuck = stuck(p.Turned(), time.Now())
	s.Losing = p.Losing()
	if l, ok := a.pool.Load(c.ID); ok {
		s.Decoding = &status.Load{Processor: l.Use, Share: l.Budget, Stage: l.Stage.String(), Since: a.clock.True(l.Since), Alone: l.Stage != codec.Shared,
			KeysOnly: l.Stage == codec.KeyframesOnly}
	}
	return s
}

func stuck(turned, now time.Time) bool { return !turned.IsZero() && now.Sub(turned) > stuckAfter }

// report is what became of the file.
func (e *edits) report(file string) status.Config {
	e.mu.Lock()
	defer e.mu.Unlock()
	c := status.Config{File: file, Loaded: e.loaded.UTC(), Failed: e.failed, Problems: []string{}, Restart: e.restart}
	c.Problems = append(c.Problems, e.problems...)
	return c
}

// readOnly is ST_RDONLY of statfs(2).
const readOnly = 1

// space is how full the file system of the data folder is; zero where that cannot be asked.
func space(cfg *configs.Config) status.Space {
	s := status.Space{Path: cfg.Bridge.Data, Least: int64(cfg.Stills.MinFree)}
	var fs syscall.Statfs_t
	if syscall.Statfs(cfg.Bridge.Data, &fs) == nil {
		s.Free, s.Total = int64(fs.Bavail)*int64(fs.Bsize), int64(fs.Blocks)*int64(fs.Bsize)
		s.ReadOnly = fs.Flags&readOnly != 0
	}
	return s
}
