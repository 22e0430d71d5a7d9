package agent

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vmsbridge/configs"
)

// tie is the place of the link to the service, which is replaced when its part of the configuration changes. The counters of a
// link are its own and begin anew with the next one.
type tie struct {
	make   func(configs.Service, prometheus.Registerer) (*link, error)
	tunnel func(*link, configs.Service) error // gives a link its tunnel
	now    atomic.Pointer[link]
	reg    atomic.Pointer[prometheus.Registry] // of the link that is there now
	next   chan replacement
	nudge  chan struct{} // buffered 1: the cameras have changed
}

type replacement struct {
	link *link
	reg  *prometheus.Registry
}

// prepare makes a link for a changed configuration. It does not run yet.
func (t *tie) prepare(s configs.Service) (replacement, error) {
	reg := prometheus.NewRegistry()
	l, err := t.make(s, reg)
	if err == nil && s.Tunnel {
		err = t.tunnel(l, s)
	}
	return replacement{l, reg}, err
}

// begin makes the first link.
func (t *tie) begin(s configs.Service) error {
	r, err := t.prepare(s)
	if err != nil {
		return err
	}
	t.next, t.nudge = make(chan replacement), make(chan struct{}, 1)
	t.put(r)
	return nil
}

func (t *tie) put(r replacement) {
	t.now.Store(r.link)
	t.reg.Store(r.reg)
}

// Run runs the link, and whichever takes its place, until ctx is done.
func (t *tie) Run(ctx context.Context) error {
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

func (t *tie) register(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, registerPatience)
	defer cancel()
	_ = t.now.Load().register(ctx)
}

// again has the service told of the bridge's cameras soon. It never blocks.
func (t *tie) again() {
	select {
	case t.nudge <- struct{}{}:
	default:
	}
}

// replace puts another link in the place of the present one, while Run runs.
func (t *tie) replace(ctx context.Context, r replacement) error {
	select {
	case t.next <- r:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// why is what the service, or the way to it, answered last when something was wrong; "" for nothing. It holds no secret.
func (l *link) why() string {
	l.mu.Lock()
	trouble := l.trouble
	l.mu.Unlock()
	if trouble != nil {
		return trouble.Error()
	}
	return l.reporter.Status().LastError
}
