package agent

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vmsbridge/agent/camera"
	"vmsbridge/agent/clock"
	"vmsbridge/agent/codec"
	"vmsbridge/agent/homes"
	"vmsbridge/agent/link"
	"vmsbridge/agent/outlet"
	"vmsbridge/agent/pipeline"
	"vmsbridge/agent/systemd"
	"vmsbridge/configs"
	"vmsbridge/storage/guard"
	"vmsbridge/storage/journal"
	"vmsbridge/storage/stills"
	"vmsbridge/uplink/admit"
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
	// Manager is the service manager that is told how the bridge is. Nil: none is.
	Manager *systemd.Manager
	// Machine is the machine's clock. Nil: the real one.
	Machine clock.Machine
	settle  time.Duration // for tests: see clock.Options
	// pipeline makes a camera's pipeline, for tests. Nil: pipeline.New does.
	pipeline func(configs.Camera, pipeline.Deps) (*pipeline.Pipeline, error)
	// Load reads the configuration anew for Reload. Nil: it cannot be.
	Load func() (*configs.Config, error)
	// Level is the log's, which a new configuration may change. Nil: it stays.
	Level *slog.LevelVar
}

// Agent is one bridge. Make it with New; Run may be called once.
type Agent struct {
	opts Options
	log  *slog.Logger
	reg  *prometheus.Registry
	live atomic.Pointer[configs.Config] // the one that runs; see cfg

	clock    *clock.Clock
	shelf    *shelf
	journal  *journal.Journal
	ring     *stills.Ring
	disk     slowDisk
	pool     *codec.Pool
	out      *outlet.Outlet
	pace     *pipeline.Pace
	cameras  *pipeline.Cameras
	hurt     casualties
	people   *people
	watch    *guard.Watch // of the data folder
	tie      *link.Tie    // nil without a service
	homes    *homes.Homes
	tokens   tokens
	cert     certificate
	edits    edits
	left     left
	decoders decoders
	visitor  string // the token with which the service asks for images; new at each start
	started  time.Time
	serving  chan struct{} // closed when everything runs
}

// New checks that an agent can be made of cfg. It opens nothing.
func New(cfg *configs.Config, o Options) (*Agent, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Registry == nil {
		o.Registry = prometheus.NewRegistry()
	}
	if o.Machine == nil {
		o.Machine = clock.System()
	}
	if o.Manager == nil {
		o.Manager = systemd.New(o.Log)
	}
	if cfg.Bridge.Data == "" {
		return nil, errors.New("bridge.data is empty: name the folder that holds events and stills")
	}
	a := &Agent{opts: o, log: o.Log, reg: o.Registry, visitor: rand.Text(), serving: make(chan struct{}),
		disk: slowDisk{log: o.Log}, hurt: casualties{bridge: cfg.Bridge, version: o.Version}}
	a.live.Store(cfg)
	a.edits.loaded = time.Now()
	return a, nil
}

// cfg is the configuration that runs now: the file's, as far as it was taken over. It never changes; a reload puts another in
// its place. Safe for concurrent use.
func (a *Agent) cfg() *configs.Config { return a.live.Load() }

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
	if err := a.clock.Open(a.journal, archive{a}); err != nil {
		return err
	}
	a.people = a.openPeople()
	defer func() { err = errors.Join(err, a.people.Close()) }()
	a.out = outlet.New(outlet.Options{To: own{a.journal}, Report: a.cfg().Service.URL != "", Ongoing: a.cfg().Service.ReportOngoing, Clock: a.clock, Release: a.ring.Release, Doubt: a.doubt().ask, Timed: a.disk.write,
		Log: a.log, Registerer: a.reg})
	a.homes = homes.New(homes.Options{Journal: a.journal, Version: a.opts.Version, Log: a.log, Registerer: a.reg})
	if err := a.homes.Open(a.cfg()); err != nil {
		return err
	}
	a.hurt.Tell(a.out)
	if err := a.closeUnfinished(); err != nil {
		return err
	}
	d := a.cfg().Decode
	a.pool = codec.NewPool(codec.Options{Isolation: d.Isolation, PerProcess: d.CamerasPerProcess, LibraryDirs: d.Libraries, Log: a.log, Registerer: a.reg})
	defer a.pool.Close()

	base := a.localURL(listener.Addr())
	imageBase := base
	if a.cfg().Service.URL != "" {
		imageBase = a.cfg().Service.URL
		a.tie = link.NewTie(func(s configs.Service, reg prometheus.Registerer) (*link.Link, error) {
			return link.New(s, link.Options{Outbox: a.journal, Clock: a.clock, Profile: func() vms.Registration { return a.profile(base) },
				Version: a.opts.Version, Log: a.log, Registerer: reg})
		})
	}
	if err := a.watchCameras(imageBase); err != nil {
		return err
	}
	api, err := a.api(base)
	if err != nil {
		return err
	}
	listener.Attach(api.http)
	if a.tie != nil {
		tunnel := func(l *link.Link, s configs.Service) error { return a.openTunnel(l, s, api.v3) }
		if err := a.tie.Begin(a.cfg().Service, tunnel); err != nil {
			return err
		}
	}
	control, err := a.control()
	if err != nil {
		return err
	}
	a.reg.MustRegister(&gauges{a})
	return a.serve(ctx, listener, api, control)
}

// watchCameras makes the cameras' pipelines.
func (a *Agent) watchCameras(imageBase string) error {
	a.pace = pipeline.NewPace(a.cfg().Stills)
	metrics, streams := pipeline.NewMetrics(a.reg), camera.NewMetrics(a.reg)
	d := pipeline.Deps{Now: a.clock.Now, Ring: a.shelf, Out: a.out, Pool: a.pool, Metrics: metrics, Cameras: streams, Log: a.log,
		Account: a.cfg().Bridge.Account, Pace: a.pace, Version: a.opts.Version, Base: imageBase,
		Resume: a.resume, Stays: a.stays}
	var create func(configs.Camera) (*pipeline.Pipeline, error)
	if own := a.opts.pipeline; own != nil {
		create = func(c configs.Camera) (*pipeline.Pipeline, error) { return own(c, d) }
	}
	a.cameras = pipeline.NewCameras(d, a.reg, create)
	return a.cameras.Set(a.cameras.Tasks(a.cfg().Cameras))
}

// listen opens the local API's port first of all, so that a second bridge on the same box stops before it touches a store.
func (a *Agent) listen() (*admit.Listener, error) {
	l, err := net.Listen("tcp", a.cfg().API.Listen)
	if err != nil {
		return nil, fmt.Errorf("listen for the local API: %w (is another bridge running? change api.listen)", err)
	}
	return admit.New(l, admit.Options{Total: connections, PerAddress: connections / 2, Strangers: connections * 3 / 8, Log: a.log}), nil
}

// connections are those that the local API has at a time: from one address, as that of a router, 64 browsers with six
// connections each and their streams of events.
const connections = 1024
