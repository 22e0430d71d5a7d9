package agent

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"net"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vmsbridge/agent/api"
	"vmsbridge/agent/archive"
	"vmsbridge/agent/arming"
	"vmsbridge/agent/clock"
	"vmsbridge/agent/codec"
	"vmsbridge/agent/health"
	"vmsbridge/agent/outbound"
	"vmsbridge/agent/pipeline"
	"vmsbridge/configs"
)

// Options are what the program around the agent decides. All but Log may be left out.
type Options struct {
	Log      *slog.Logger
	Version  string
	Registry *prometheus.Registry
	// Ready is called once, when the stores are open and the local API answers, with that API's
	// address.
	Ready func(listen net.Addr)
	// Manager is the service manager that is told how the bridge is. Nil: none is.
	Manager *health.Manager
	// Machine is the machine's clock. Nil: the real one.
	Machine clock.Machine
	settle  time.Duration // for tests: see clock.Options
	// pipeline makes a camera's pipeline, for tests. Nil: pipeline.New does.
	pipeline func(configs.Camera, pipeline.Deps) (*pipeline.Pipeline, error)
	// Load reads the configuration anew for Reload. Nil: it cannot be.
	Load func() (*configs.Config, error)
	// Bundle packs the support bundle for the page. Nil: the page has none.
	Bundle func(ctx context.Context, to io.Writer) error
	// Level is the log's, which a new configuration may change. Nil: it stays.
	Level *slog.LevelVar
}

// Agent is one bridge. Make it with New; Run may be called once.
type Agent struct {
	opts Options
	log  *slog.Logger
	reg  *prometheus.Registry
	live atomic.Pointer[configs.Config] // the one that runs; see cfg

	clock      *clock.Clock
	archive    *archive.Archive
	arming     *arming.Arming
	pool       *codec.Pool
	pace       *pipeline.Pace
	cameras    *pipeline.Cameras
	api        *api.API
	outbound   *outbound.Outbound
	operations *health.Operations
	timer      *health.WriteTimer
	decoders   health.Decoders
	edits      edits
	stopping   func() bool // this run ends; set before any camera learns of it
	visitor    string      // the token with which the service asks for images; new at each start
	started    time.Time
	serving    chan struct{} // closed when everything runs
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
		o.Manager = health.NewManager(o.Log)
	}
	if cfg.Bridge.Data == "" {
		return nil, errors.New("bridge.data is empty: name the folder that holds events and stills")
	}
	a := &Agent{opts: o, log: o.Log, reg: o.Registry, visitor: rand.Text(), serving: make(chan struct{}),
		timer:      health.NewWriteTimer(o.Log),
		operations: &health.Operations{Bridge: cfg.Bridge, Version: o.Version}}
	a.live.Store(cfg)
	a.edits.log, a.edits.operations, a.edits.loaded = o.Log, a.operations, time.Now()
	return a, nil
}

// cfg is the configuration that runs now: the file's, as far as it was taken over. It never
// changes; a reload puts another in its place. Safe for concurrent use.
func (a *Agent) cfg() *configs.Config { return a.live.Load() }
