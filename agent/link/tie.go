package link

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vmsbridge/configs"
)

// Tie is the place of the link to the service, which is replaced when its part of the configuration changes. The counters of a
// link are its own and begin anew with the next one.
type Tie struct {
	make   func(configs.Service, prometheus.Registerer) (*Link, error)
	tunnel func(*Link, configs.Service) error // gives a link its tunnel
	now    atomic.Pointer[Link]
	reg    atomic.Pointer[prometheus.Registry] // of the link that is there now
	next   chan Replacement
	nudge  chan struct{} // buffered 1: the cameras have changed
}

// NewTie makes a place without a link: see Begin. make makes a link with the counters that it is to have.
func NewTie(make func(configs.Service, prometheus.Registerer) (*Link, error)) *Tie {
	return &Tie{make: make}
}

// Replacement is a link that is to take the place of the present one.
type Replacement struct {
	link *Link
	reg  *prometheus.Registry
}

// Prepare makes a link for a changed configuration. It does not run yet.
func (t *Tie) Prepare(s configs.Service) (Replacement, error) {
	reg := prometheus.NewRegistry()
	l, err := t.make(s, reg)
	if err == nil && s.Tunnel {
		err = t.tunnel(l, s)
	}
	return Replacement{l, reg}, err
}

// Begin makes the first link. tunnel gives a link, this one and those that come after it, its tunnel where one is wanted.
func (t *Tie) Begin(s configs.Service, tunnel func(*Link, configs.Service) error) error {
	t.tunnel = tunnel
	r, err := t.Prepare(s)
	if err != nil {
		return err
	}
	t.next, t.nudge = make(chan Replacement), make(chan struct{}, 1)
	t.put(r)
	return nil
}

// Now is the present link.
func (t *Tie) Now() *Link { return t.now.Load() }

// Metrics are those of the present link.
func (t *Tie) Metrics() prometheus.Gatherer { return t.reg.Load() }

func (t *Tie) put(r Replacement) {
	t.now.Store(r.link)
	t.reg.Store(r.reg)
}

// Run runs the link, and whichever takes its place, until ctx is done.
func (t *Tie) Run(ctx context.Context) error {
	for {
		own, stop := context.WithCancel(ctx)
		ended := make(chan error, 1)
		go func() { ended <- t.now.Load().Run(own) }()
		for here := true; here; {
			select {
			case err := <-ended:
				stop()
				return err
			case <-t.nudge:
				t.register(own)
			case r := <-t.next:
				stop()
				<-ended // what is under way gets its moment; the outbox keeps the rest
				t.put(r)
				here = false
			}
		}
	}
}

// registerPatience bounds a registration out of turn. If it fails, the next one in turn says the same.
const registerPatience = 5 * time.Second

func (t *Tie) register(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, registerPatience)
	defer cancel()
	_ = t.now.Load().register(ctx)
}

// Again has the service told of the bridge's cameras soon. It never blocks.
func (t *Tie) Again() {
	select {
	case t.nudge <- struct{}{}:
	default:
	}
}

// Replace puts another link in the place of the present one, while Run runs.
func (t *Tie) Replace(ctx context.Context, r Replacement) error {
	select {
	case t.next <- r:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
