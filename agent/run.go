package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"vmsbridge/agent/api"
	"vmsbridge/agent/archive"
	"vmsbridge/agent/arming"
	"vmsbridge/agent/clock"
	"vmsbridge/agent/codec"
	"vmsbridge/agent/health"
	"vmsbridge/agent/outbound"
	"vmsbridge/agent/setup"
	"vmsbridge/agent/supervisor"
	"vmsbridge/uplink/admit"
	"vmsbridge/uplink/vms"
)

// Run runs the bridge until ctx is done, then ends open spans, writes what is left, and closes the
// stores. It returns nil after an orderly stop, and an error if the bridge cannot start or serve.
func (a *Agent) Run(ctx context.Context) (err error) {
	a.started = time.Now()
	listener, err := a.listen()
	if err != nil {
		return err
	}
	defer listener.Close()
	a.clock = clock.New(clock.Options{Machine: a.opts.Machine, Wait: a.cfg().Clock.Wait,
		Alone: a.cfg().Service.URL == "", Built: clock.Built(),
		Settle: a.opts.settle, Stepped: func(s clock.Step) { a.operations.Clock(s) }, Log: a.log, Registerer: a.reg})
	a.operations.Now = a.clock.Now
	a.archive, err = archive.Open(archive.Options{Config: a.cfg, Clock: a.clock, Operations: a.operations,
		Timer:   a.timer,
		Version: a.opts.Version, Log: a.log, Registerer: a.reg})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.archive.Close()) }()
	a.arming = arming.Open(arming.Options{Config: a.cfg, Memory: a.archive.Journal, Log: a.log,
		Now: func() (time.Time, bool) {
			return a.clock.True(a.clock.Now()), a.clock.State().Source != clock.Waiting
		}})
	base := localURL(a.cfg(), listener.Addr(), a.log)
	if err := a.openAPI(base); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.api.Close()) }()
	listener.Attach(a.api.Server())
	a.outbound, err = outbound.Open(a.cfg(), outbound.Options{Journal: a.archive.Journal, Clock: a.clock,
		Version: a.opts.Version,
		Profile: func() vms.Registration { return a.profile(base) }, Tunnel: a.api.ForService,
		Picture: a.archive.Picture, Show: a.api.Show,
		Armed: a.arming.Armed, Arm: a.arming.ByBroker,
		Page: pageOf(base), Log: a.log, Registerer: a.reg})
	if err != nil {
		return err
	}
	a.operations.Tell(a.archive.Events)
	a.edits.events = a.archive.Events
	if err := a.archive.CloseUnfinished(); err != nil {
		return err
	}
	d := a.cfg().Decode
	a.pool = codec.NewPool(codec.Options{Isolation: d.Isolation, PerProcess: d.CamerasPerProcess,
		LibraryDirs: d.Libraries, Decoders: d.Decoders, Log: a.log, Registerer: a.reg})
	defer a.pool.Close()
	if err := a.watchCameras(cmp.Or(a.cfg().Service.URL, base)); err != nil {
		return err
	}
	a.reg.MustRegister(health.Collector(a.Status))
	return a.serve(ctx, listener)
}

// listen opens the local API's port first of all, so that a second bridge on the same box stops
// before it touches a store.
func (a *Agent) listen() (*admit.Listener, error) {
	l, err := net.Listen("tcp", a.cfg().API.Listen)
	if err != nil {
		return nil, fmt.Errorf("listen for the local API: %w (is another bridge running? change api.listen)", err)
	}
	return admit.New(l, admit.Options{Total: connections, PerAddress: connections / 2, Strangers: connections * 7 / 16,
		Log: a.log}), nil
}

// connections are those that the local API has at a time: from one address, as that of a router, 64
// browsers with six connections each and their streams of events.
const connections = 1024

// openAPI makes the local API.
func (a *Agent) openAPI(base string) (err error) {
	waiting := outbound.QueueHandler(outbound.QueueOf(a.archive.Journal))
	a.api, err = api.New(api.Options{Config: a.cfg, Archive: a.archive, Status: a.Status, Cameras: a.Cameras,
		CameraStates: a.CameraStates, Watch: func(camera string, until time.Time) { a.pace.Watch(camera, until) },
		StillBefore: a.stillBefore, Try: a.try,
		Queue: waiting, QueuePath: outbound.QueuePath,
		Reload: func(ctx context.Context) (any, error) { return a.Reload(ctx) },
		Bundle: a.opts.Bundle, Arming: a.arming,
		Setup: setup.New(setup.Options{File: a.cfg().File, Libraries: func() []string {
			return a.cfg().Decode.Libraries
		},
			Reload: func(ctx context.Context) ([]string, error) {
				done, err := a.Reload(ctx)
				return done.Problems, err
			}}),
		Metrics: func() prometheus.Gatherers { return prometheus.Gatherers{a.reg} }, Operations: a.operations,
		Ready: a.serving, Visitor: a.visitor, BaseURL: base, Started: a.started,
		Log: a.log, Registerer: a.reg})
	return err
}

// serve runs everything. The order of the stop is the order of the flow: cameras end first and hand
// in their last events, then the writers of events and stills write them, then the reporter gets a
// moment to hand them on and stops, then the API; the stores are closed by the caller.
func (a *Agent) serve(ctx context.Context, l net.Listener) error {
	cameras, stopCameras := context.WithCancel(ctx)
	defer stopCameras()
	a.stopping = func() bool { return cameras.Err() != nil } // before any camera learns of it
	rest, stopRest := context.WithCancel(context.WithoutCancel(ctx))
	defer stopRest()
	writers, stopWriters := context.WithCancel(rest)
	defer stopWriters()

	var behind errgroup.Group
	broken := make(chan error, 20) // one each at least of what is started below
	start := func(c context.Context, name string, f func(context.Context) error) {
		behind.Go(func() error {
			err := supervisor.Caught(func() error { return f(c) })()
			if err != nil && c.Err() == nil {
				broken <- fmt.Errorf("%s: %w", name, err)
			}
			return nil
		})
	}
	eventsDone, stillsDone := make(chan struct{}), make(chan struct{})
	start(writers, "events", func(c context.Context) error { defer close(eventsDone); return a.archive.Events.Run(c) })
	start(writers, "stills", func(c context.Context) error { defer close(stillsDone); return a.archive.Stills.Run(c) })
	start(rest, "clock", a.clock.Run)
	start(rest, "what is armed", a.arming.Run)
	start(rest, "gaps", a.archive.Stills.NoteHeld)
	start(rest, "the ways out of events", a.outbound.Run)
	start(rest, "local API", func(c context.Context) error { return a.api.Run(c, l) })
	start(rest, "control socket", a.api.RunLocal)
	start(rest, "housekeeping", a.archive.Housekeep)
	start(rest, "the data folder", a.archive.Watch)
	start(rest, "what the local API keeps", a.api.Keep)
	start(rest, "decoders", func(c context.Context) error { return a.decoders.Look(c, a.pool, a.log) })
	camerasDone := make(chan struct{})
	start(cameras, "cameras", func(c context.Context) error { defer close(camerasDone); return a.cameras.Run(c) })
	start(rest, "watchdog", a.watchdog(l.Addr()).Run)

	if a.opts.Ready != nil {
		a.opts.Ready(l.Addr())
	}
	close(a.serving)
	a.opts.Manager.Ready(inShort(a.cameras))
	a.log.Info("the bridge runs", "cameras", len(a.cameras.Workers()), "listen", l.Addr().String(), "service",
		a.cfg().Service.URL)

	var cause error
	select {
	case <-ctx.Done():
	case cause = <-broken:
		a.log.Error("the bridge stops", "error", cause)
	}
	a.opts.Manager.Stopping()
	stopCameras()
	<-camerasDone
	stopWriters()
	<-eventsDone
	<-stillsDone
	if service := a.outbound.Service(); service != nil && cause == nil {
		service.Settle()
	}
	stopRest()
	_ = behind.Wait()
	a.log.Info("the bridge has stopped")
	return cause
}
