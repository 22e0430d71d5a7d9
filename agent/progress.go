package agent

import (
	"context"
	"net"

	"vmsbridge/agent/health"
)

// watchdog feeds the service manager's with what has moved: the cameras' supervisor and their
// pipelines, the journal, and the local HTTP. What only costs one camera, or what a restart would
// not cure (a full disk, a service that is away), does not count.
func (a *Agent) watchdog(listen net.Addr) *health.Watchdog {
	return &health.Watchdog{Every: a.opts.Manager.WatchdogEvery(), Alive: a.opts.Manager.Alive, Log: a.log,
		Signs: []health.Sign{
			{Name: "cameras", Do: a.cameras.Move}, {Name: "journal", Do: a.archive.Moves},
			{Name: "local HTTP", Do: func(ctx context.Context) error { return a.api.Answers(ctx, listen) }},
		}}
}
