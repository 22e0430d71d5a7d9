// Package outbound takes the bridge's events out: to the service, and to the MQTT broker, the
// webhooks and the file that the configuration names. Each is a sink (uplink/delivery) that a
// supervisor keeps running; a changed configuration replaces those whose part of it changed, and
// the others go on. The sinks beside the service have cursors of the journal under their names: one
// that is taken out of the configuration forgets where it was, one that stays goes on where it was.
//
//	o, err := outbound.Open(cfg, outbound.Options{Journal: j, Clock: c, Profile: p, Log: log})
//	go o.Run(ctx) // opened before anything is put into the journal, it misses nothing
//	apply, err := o.Prepare(next) // of a changed configuration; nothing has changed yet
//	err = apply(ctx)
//	list, service := o.Status(), o.Service()
//
// Queue is what waits and what was refused, as a person sees and changes it.
package outbound

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vmsbridge/agent/clock"
	"vmsbridge/agent/supervisor"
	"vmsbridge/configs"
	"vmsbridge/storage/journal"
	"vmsbridge/uplink/delivery"
	"vmsbridge/uplink/vms"
)

// Options of Open. Clock, Profile and Tunnel are for the service, and needed only where one is
// configured.
type Options struct {
	Journal *journal.Journal
	Clock   *clock.Clock
	Profile func() vms.Registration // what the service is to know of the bridge
	// Tunnel makes what answers the service through its tunnel.
	Tunnel func() (http.Handler, error)
	// Picture is a camera's still of a moment, for sinks that show one.
	Picture func(camera string, at time.Time) ([]byte, error)
	// Show is an event with its pictures as a webhook wants them, by its key image.
	Show func(image string, ev vms.Event) vms.Event
	// Armed is before which cameras motion makes events; Arm arms or disarms one, "" all: for sinks
	// through which people do that. Nil both: none is told.
	Armed   func() (armed map[string]bool, changed <-chan struct{})
	Arm     func(ctx context.Context, camera string, armed bool) error
	Page    string // the address of the bridge's page, with a slash at the end; "": nobody knows it
	Version string // of this program
	Log     *slog.Logger
	// Registerer gets the metrics of the sinks that there are; those of one that is replaced begin
	// anew.
	Registerer prometheus.Registerer
	backoff    supervisor.Backoff // for tests: of a sink that broke
}

// Outbound is safe for concurrent use. Run may be called once.
type Outbound struct {
	o   Options
	set *supervisor.Supervisor[*sink]
}

// sink is a worker of the supervisor, with metrics of its own.
type sink struct {
	supervisor.Worker
	metrics *prometheus.Registry
}

// Open makes the sinks of a configuration, which do not run yet. From then on nothing that is put
// into the journal is missed.
func Open(cfg *configs.Config, o Options) (*Outbound, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	out := &Outbound{o: o, set: supervisor.New[*sink](supervisor.Options{Label: "sink", Log: o.Log, Backoff: o.backoff,
		Failed: "a sink of events broke; it starts again"})}
	tasks, _, err := out.tasks(cfg)
	if err == nil {
		err = out.set.Set(tasks)
	}
	if err != nil {
		return nil, fmt.Errorf("open the ways out of events: %w", err)
	}
	if o.Registerer != nil {
		o.Registerer.MustRegister((*collector)(out))
	}
	return out, nil
}

// Run runs the sinks until ctx is done; each hands over what is left for a moment. One that breaks
// costs the others nothing.
func (o *Outbound) Run(ctx context.Context) error { return o.set.Run(ctx) }

// Prepare makes the sinks of a changed configuration that need to be new, while Run runs. Until
// apply, which puts them in the places of the old ones and waits for their end, those go on.
func (o *Outbound) Prepare(cfg *configs.Config) (apply func(context.Context) error, err error) {
	tasks, cursors, err := o.tasks(cfg)
	if err != nil {
		return nil, err
	}
	sinks, err := o.set.Prepare(tasks)
	return func(ctx context.Context) error {
		if _, err := sinks(ctx); err != nil {
			return err
		}
		if _, err := o.o.Journal.Cursors(cursors...); err != nil { // those that nobody reads any more are forgotten
			return fmt.Errorf("forget where sinks were that are gone: %w", err)
		}
		return nil
	}, err
}

// Service is the link to the service, nil without one.
func (o *Outbound) Service() *Service {
	for _, s := range o.set.Workers() {
		if service, ok := s.Worker.Worker.(*Service); ok {
			return service
		}
	}
	return nil
}

// Status is how each sink beside the service is, in the order of the configuration.
func (o *Outbound) Status() []delivery.SinkStatus {
	list := []delivery.SinkStatus{}
	for _, s := range o.set.Workers() {
		if other, ok := s.Worker.Worker.(interface{ Status() delivery.SinkStatus }); ok {
			list = append(list, other.Status())
		}
	}
	return list
}

// collector gives the metrics of the sinks that there are now.
type collector Outbound

// Describe says nothing, since sinks come and go.
func (c *collector) Describe(chan<- *prometheus.Desc) {}

// Collect is for prometheus.Collector.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	for _, s := range c.set.Workers() {
		s.Worker.metrics.Collect(ch)
	}
}
