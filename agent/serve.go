package agent

import (
	"context"
	"fmt"
	"net"
	"net/http"

	"golang.org/x/sync/errgroup"

	"vmsbridge/agent/supervisor"
)

// serve runs everything. The order of the stop is the order of the flow: cameras end first and hand in their last events,
// then the outlet and the shelf write them, then the reporter gets a moment to hand them on and stops, then the API; the stores are closed by the caller.
func (a *Agent) serve(ctx context.Context, l net.Listener, api *api, control *local) error {
	cameras, stopCameras := context.WithCancel(ctx)
	defer stopCameras()
	a.left.stops = func() bool { return cameras.Err() != nil } // before any camera learns of it
	rest, stopRest := context.WithCancel(context.WithoutCancel(ctx))
	defer stopRest()
	outletCtx, stopOutlet := context.WithCancel(rest)
	defer stopOutlet()

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
	outletDone := make(chan struct{})
	start(outletCtx, "outlet", func(c context.Context) error { defer close(outletDone); return a.out.Run(c) })
	shelfDone := make(chan struct{})
	start(outletCtx, "stills", func(c context.Context) error { defer close(shelfDone); return a.shelf.Run(c) })
	start(rest, "clock", a.clock.Run)
	start(rest, "gaps", a.shelf.noteHeld)
	if a.tie != nil {
		start(rest, "service", a.tie.Run)
	}
	start(rest, "other homes of events", a.homes.Run)
	start(rest, "local API", func(c context.Context) error { return api.Run(c, l) })
	start(rest, "control", control.Run)
	start(rest, "housekeeping", a.housekeep)
	start(rest, "the data folder", a.watch.Run)
	start(rest, "sign-in", a.tidyPeople)
	start(rest, "decoders", a.lookAtDecoders)
	if a.tie != nil {
		start(rest, "the outbox's caps", a.trimOutbox)
	}
	camerasDone := make(chan struct{})
	start(cameras, "cameras", func(c context.Context) error { defer close(camerasDone); return a.cameras.Run(c) })
	start(rest, "watchdog", a.watchdog(l.Addr()).Run)

	if a.opts.Ready != nil {
		a.opts.Ready(l.Addr())
	}
	close(a.serving)
	a.opts.Manager.Ready(a.inShort())
	a.log.Info("the bridge runs", "cameras", len(a.cameras.Workers()), "listen", l.Addr().String(), "service", a.cfg().Service.URL)

	var cause error
	select {
	case <-ctx.Done():
	case cause = <-broken:
		a.log.Error("the bridge stops", "error", cause)
	}
	a.opts.Manager.Stopping()
	stopCameras()
	<-camerasDone
	stopOutlet()
	<-outletDone
	<-shelfDone
	if a.tie != nil && cause == nil {
		a.tie.Now().Settle(a.journal)
	}
	stopRest()
	_ = behind.Wait()
	a.log.Info("the bridge has stopped")
	return cause
}

// inShort is what the service manager shows of the bridge.
func (a *Agent) inShort() string {
	return fmt.Sprintf("watching %d cameras", len(a.cameras.Workers()))
}

// local is an HTTP server on a listener of its own.
type local struct {
	l    net.Listener
	http *http.Server
}

// Run serves until ctx is done.
func (s *local) Run(ctx context.Context) error { return (&api{http: s.http}).Run(ctx, s.l) }
