package api

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vmsbridge/agent/archive"
	"vmsbridge/agent/arming"
	"vmsbridge/agent/health"
	"vmsbridge/agent/setup"
	"vmsbridge/configs"
	"vmsbridge/uplink/vms"
)

// Options of New. All must be set.
type Options struct {
	Config  func() *configs.Config // the one that runs now
	Archive *archive.Archive
	Status  func() health.Report
	Cameras func() []vms.Camera // in the order of the configuration
	// CameraStates is that part of Status, for little.
	CameraStates func() []health.Camera
	// Watch has a camera make stills often until a time, since somebody looks.
	Watch func(camera string, until time.Time)
	// StillBefore has a still kept of the newest picture before t, where that waits undecoded. It
	// may take a second.
	StillBefore func(ctx context.Context, camera string, t time.Time)
	// Reload reads the configuration anew; what it returns is sent as JSON.
	Reload func(ctx context.Context) (any, error)
	// Arming is which cameras are armed.
	Arming *arming.Arming
	// Setup changes the cameras of the configuration, for the page.
	Setup *setup.Setup
	// Try has a detector with other settings look at a camera's pictures until ctx is done or tell
	// returns an error; what tell gets of each picture is sent as JSON. A *setup.Refusal comes
	// before the first.
	Try func(ctx context.Context, camera string, m configs.CameraMotion, tell func(look any) error) error
	// Bundle packs the support bundle. Nil: there is none.
	Bundle func(ctx context.Context, to io.Writer) error
	// Queue is the handler of what waits for the service, below QueuePath.
	Queue     http.Handler
	QueuePath string
	// Metrics are those of the bridge and of what comes and goes with its configuration.
	Metrics    func() prometheus.Gatherers
	Operations *health.Operations // is told of damage
	Ready      <-chan struct{}    // closed when everything runs
	Visitor    string             // the token with which the service asks for images
	BaseURL    string             // that clientSettings tells; "": the one that the client used
	Started    time.Time
	Log        *slog.Logger
	Registerer prometheus.Registerer

	said *described // by New
}
