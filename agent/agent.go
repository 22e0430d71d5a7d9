package agent

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"vmsbridge/agent/camera"
	"vmsbridge/agent/codec"
	"vmsbridge/agent/outlet"
	"vmsbridge/agent/panics"
	"vmsbridge/agent/pipeline"
	"vmsbridge/configs"
	"vmsbridge/storage/journal"
	"vmsbridge/storage/stills"
	"vmsbridge/uplink/vms"
)

// Names below bridge.data.
const (
	JournalFile = "journal.db"
	StillsDir   = "stills"
)

// Options are what the program around the agent decides. All but Log may be left out.
type Options struct {
	Log      *slog.Logger
	Version  string
	Registry *prometheus.Registry
	// Ready is called once, when the stores are open and the local API answers, with that API's address.
	Ready func(listen net.Addr)
}

// Agent is one bridge. Make it with New; Run may be called once.
type Agent struct {
	cfg  *configs.Config
	opts Options
	log  *slog.Logger
	reg  *prometheus.Registry
	m    *metrics

	journal *journal.Journal
	ring    *stills.Ring
	pool    *codec.Pool
	out     *outlet.Outlet
	posts   []*post
	hurt    casualties
	people  *people
	link    *link  // nil without a service
	visitor string // the token with which the service asks for images; new at each start
	started time.Time
}

// New checks that an agent can be made of cfg. It opens nothing.
func New(cfg *configs.Config, o Options) (*Agent, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Registry == nil {
		o.Registry = prometheus.NewRegistry()
	}
	if cfg.Bridge.Data == "" {
		return nil, errors.New("bridge.data is empty: name the folder that holds events and stills")
	}
	return &Agent{cfg: cfg, opts: o, log: o.Log, reg: o.Registry, m: newMetrics(o.Registry), visitor: rand.Text(),
		hurt: casualties{bridge: cfg.Bridge, version: o.Version}}, nil
}

// Run runs the bridge until ctx is done, then ends open spans, writes what is left, and closes the stores. It returns nil
// after an orderly stop, and an error if the bridge cannot start or serve.
func (a *Agent) Run(ctx context.Context) (err error) {
	a.started = time.Now()
	listener, err := a.listen()
	if err != nil {
		return err
	}
	defer listener.Close()
	if err := a.openStores(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.closeStores()) }()
	a.people = a.openPeople()
	defer func() { err = errors.Join(err, a.people.Close()) }()
	a.out = outlet.New(outlet.Options{To: a.journal, Report: a.cfg.Service.URL != "", Ongoing: a.cfg.Service.ReportOngoing, Release: a.ring.Release,
		Log: a.log, Registerer: a.reg})
	a.hurt.Tell(a.out)
	if err := a.closeUnfinished(); err != nil {
		return err
	}
	a.pool = codec.NewPool(codec.Options{Isolation: a.cfg.Decode.Isolation, PerProcess: a.cfg.Decode.CamerasPerProcess,
		LibraryDirs: a.cfg.Decode.Libraries, Log: a.log, Registerer: a.reg})
	defer a.pool.Close()

	base := a.localURL(listener.Addr())
	profile := func() vms.Registration { return a.profile(base) }
	if a.link, err = newLink(a.cfg.Service, a.journal, profile, a.opts.Version, a.reg, a.log); err != nil {
		return err
	}
	imageBase := base
	if a.link != nil {
		a.m.watchSignIn(a.reg, a.link)
		imageBase = a.cfg.Service.URL
	}
	r := pipeline.Rooms{Ring: a.ring, Out: a.out, Pool: a.pool, Metrics: pipeline.NewMetrics(a.reg), Cameras: camera.NewMetrics(a.reg), Log: a.log,
		Account: a.cfg.Bridge.Account, Stills: a.cfg.Stills, Version: a.opts.Version, Base: imageBase}
	for _, c := range a.cfg.Cameras {
		if !c.Enabled {
			continue
		}
		p, err := pipeline.New(c, r)
		if err != nil {
			return err
		}
		s := &post{cfg: c, rooms: r}
		s.current.Store(p)
		a.posts = append(a.posts, s)
	}
	api, err := a.api(base)
	if err != nil {
		return err
	}
	if a.link != nil && a.cfg.Service.Tunnel {
		if err := a.openTunnel(api.v3); err != nil {
			return err
		}
	}
	return a.serve(ctx, listener, api)
}

// serve runs everything. The order of the stop is the order of the flow: cameras end first and hand in their last events,
// then the outlet writes them, then the reporter gets a moment to hand them on and stops, then the API; the stores are closed by the caller.
func (a *Agent) serve(ctx context.Context, l net.Listener, api *api) error {
	if a.opts.Ready != nil {
		a.opts.Ready(l.Addr())
	}
	a.log.Info("the bridge runs", "cameras", len(a.posts), "listen", l.Addr().String(), "service", a.cfg.Service.URL)

	cameras, stopCameras := context.WithCancel(ctx)
	defer stopCameras()
	rest, stopRest := context.WithCancel(context.WithoutCancel(ctx))
	defer stopRest()
	outletCtx, stopOutlet := context.WithCancel(rest)
	defer stopOutlet()

	var behind errgroup.Group
	broken := make(chan error, 8) // one each at least of what is started below
	start := func(c context.Context, name string, f func(context.Context) error) {
		behind.Go(func() error {
			err := panics.Caught(func() error { return f(c) })()
			if err != nil && c.Err() == nil {
				broken <- fmt.Errorf("%s: %w", name, err)
			}
			return nil
		})
	}
	outletDone := make(chan struct{})
	start(outletCtx, "outlet", func(c context.Context) error { defer close(outletDone); return a.out.Run(c) })
	if a.link != nil {
		start(rest, "service", a.link.Run)
	}
	start(rest, "local API", func(c context.Context) error { return api.Run(c, l) })
	start(rest, "housekeeping", a.housekeep)
	if a.link != nil {
		start(rest, "the outbox's caps", a.trimOutbox)
	}

	var pipes errgroup.Group
	for _, s := range a.posts {
		pipes.Go(func() error { return a.supervise(cameras, s) })
	}
	var cause error
	select {
	case <-ctx.Done():
	case cause = <-broken:
		a.log.Error("the bridge stops", "error", cause)
	}
	stopCameras()
	_ = pipes.Wait()
	stopOutlet()
	<-outletDone
	if a.link != nil && cause == nil {
		a.link.settle(a.journal)
	}
	stopRest()
	_ = behind.Wait()
	a.log.Info("the bridge has stopped")
	return cause
}

// openStores opens the journal and the ring below bridge.data.
func (a *Agent) openStores() (err error) {
	data := a.cfg.Bridge.Data
	if err := os.MkdirAll(data, 0o700); err != nil {
		return fmt.Errorf("make the data folder: %w (name a folder that this user may write in bridge.data)", err)
	}
	s := a.cfg.Stills
	a.ring, err = stills.Open(filepath.Join(data, StillsDir), stills.Options{MaxBytes: int64(s.MaxSize), SegmentBytes: int64(s.SegmentSize),
		FlushEvery: s.FlushInterval, MaxAge: s.MaxAge, MinFree: int64(s.MinFree), Endurance: int64(s.DeviceEndurance),
		Cameras: len(a.cfg.Cameras), Log: a.log, Registerer: a.reg, OnDamage: a.hurt.Stills})
	if err != nil {
		return fmt.Errorf("open the stills: %w", err)
	}
	open := func() (err error) {
		a.journal, err = journal.Open(filepath.Join(data, JournalFile), journal.Options{Log: a.log, Registerer: a.reg, OnDamage: a.hurt.Journal})
		return err
	}
	if err = open(); errors.Is(err, journal.ErrFull) {
		if freed, _ := a.ring.Release(outlet.RoomBytes); freed > 0 {
			err = open()
		}
	}
	if err != nil {
		return errors.Join(fmt.Errorf("open the journal: %w", err), a.ring.Close())
	}
	return nil
}

// closeStores flushes the stills before the journal closes: an event may name them.
func (a *Agent) closeStores() error { return errors.Join(a.ring.Close(), a.journal.Close()) }

// listen opens the local API's port first of all, so that a second bridge on the same box stops before it touches a store.
func (a *Agent) listen() (net.Listener, error) {
	l, err := net.Listen("tcp", a.cfg.API.Listen)
	if err != nil {
		return nil, fmt.Errorf("listen for the local API: %w (is another bridge running? change api.listen)", err)
	}
	return l, nil
}
