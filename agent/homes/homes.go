// Package homes runs the homes of events beside the service that the configuration names: an MQTT broker and webhooks. It stands
// between the agent and uplink/mqtt and uplink/webhook, and gives each a cursor of the journal under its name; so a home that is
// taken out of the configuration forgets where it was, and one that stays goes on where it was, over restarts and changes.
//
//	h := homes.New(homes.Options{Journal: j, Version: version, Log: log, Registerer: reg})
//	err := h.Open(cfg)            // before anything is put into the journal, so that nothing is missed
//	go h.Run(ctx)
//	h.Apply(next)                 // a changed configuration
//	list := h.Status()
package homes

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"vmsbridge/agent/supervisor"
	"vmsbridge/configs"
	"vmsbridge/storage/journal"
	"vmsbridge/uplink/delivery"
	"vmsbridge/uplink/mqtt"
)

// Options of New. All but Log and Registerer are needed.
type Options struct {
	Journal    *journal.Journal
	Version    string
	Log        *slog.Logger
	Registerer prometheus.Registerer
}

// runner is a home: uplink/mqtt and uplink/webhook have one each.
type runner interface {
	Run(ctx context.Context) error
	Status() delivery.SinkStatus
}

// Homes are safe for concurrent use. Run may be called once.
type Homes struct {
	o    Options
	next chan struct{} // buffered 1: wanted has changed
	// again is how long a home that broke, or homes that cannot be opened, wait for another try.
	again time.Duration

	mu     sync.Mutex // guards the rest
	wanted wish
	list   []runner
	reg    *prometheus.Registry // of the list; its counters begin anew with the next one
	failed error                // why what is wanted does not run
}

// wish is the part of a configuration that homes are made of.
type wish struct {
	bridge   configs.Bridge
	mqtt     configs.MQTT
	webhooks []configs.Webhook
	lines    configs.Lines
	cameras  []mqtt.Camera
}

// New makes homes that are not open.
func New(o Options) *Homes {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	h := &Homes{o: o, next: make(chan struct{}, 1), again: 5 * time.Second, reg: prometheus.NewRegistry()}
	if o.Registerer != nil {
		o.Registerer.MustRegister((*collector)(h))
	}
	return h
}

// Open makes the homes of a configuration. From then on nothing that is put into the journal is missed.
func (h *Homes) Open(cfg *configs.Config) error {
	h.mu.Lock()
	h.wanted = wishOf(cfg)
	h.mu.Unlock()
	if err := h.open(); err != nil {
		return fmt.Errorf("open the other homes of events: %w", err)
	}
	return nil
}

// Apply makes the homes those of a changed configuration, soon, while Run runs. What has not changed goes on as it is.
func (h *Homes) Apply(cfg *configs.Config) {
	w := wishOf(cfg)
	h.mu.Lock()
	defer h.mu.Unlock()
	if reflect.DeepEqual(h.wanted, w) {
		return
	}
	h.wanted = w
	select {
	case h.next <- struct{}{}:
	default:
	}
}

// Run runs the homes until ctx is done. A home that breaks costs the others nothing.
func (h *Homes) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		own, stop := context.WithCancel(ctx)
		var g errgroup.Group
		for _, r := range h.running() {
			g.Go(func() error { h.keep(own, r); return nil })
		}
		select {
		case <-ctx.Done():
		case <-h.next:
		}
		stop()
		_ = g.Wait() // each hands over what is left for a moment
		h.reopen(ctx)
	}
	return nil
}

func (h *Homes) running() []runner {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.list
}

// keep runs a home, and again if it breaks.
func (h *Homes) keep(ctx context.Context, r runner) {
	for ctx.Err() == nil {
		err := supervisor.Caught(func() error { return r.Run(ctx) })()
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			err = errors.New("it ended")
		}
		h.o.Log.Error("a home of events broke; it starts again", "home", r.Status().Name, "error", err)
		h.pause(ctx)
	}
}

// reopen opens what is wanted now, unless the agent stops.
func (h *Homes) reopen(ctx context.Context) {
	for ctx.Err() == nil {
		err := h.open()
		if err == nil {
			return
		}
		h.o.Log.Error("the changed homes of events cannot be opened; none runs until they can", "error", err)
		h.pause(ctx)
	}
}

func (h *Homes) pause(ctx context.Context) {
	t := time.NewTimer(h.again)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// open makes the homes that are wanted, on cursors of theirs. Those that ran before must have stopped.
func (h *Homes) open() error {
	h.mu.Lock()
	w := h.wanted
	h.mu.Unlock()
	reg := prometheus.NewRegistry()
	list, err := h.build(w, reg)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.failed = err; err == nil {
		h.list, h.reg = list, reg
	} else {
		h.list = nil
	}
	return err
}

// Status is each home's, in the order of the configuration.
func (h *Homes) Status() []delivery.SinkStatus {
	h.mu.Lock()
	list, failed := h.list, h.failed
	h.mu.Unlock()
	all := make([]delivery.SinkStatus, 0, len(list)+1)
	for _, r := range list {
		all = append(all, r.Status())
	}
	if failed != nil {
		all = append(all, delivery.SinkStatus{Kind: "homes", Name: "all", Problem: "the other homes of events cannot be opened: see the log", LastError: failed.Error()})
	}
	return all
}

// collector gives the metrics of the homes that there are now.
type collector Homes

// Describe says nothing, since homes come and go.
func (c *collector) Describe(chan<- *prometheus.Desc) {}

// Collect is for prometheus.Collector.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	c.mu.Lock()
	reg := c.reg
	c.mu.Unlock()
	reg.Collect(ch)
}
