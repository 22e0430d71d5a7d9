package webhook

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"vmsbridge/uplink/home"
	"vmsbridge/uplink/trust"
	"vmsbridge/uplink/vms"
)

// Options of New. ID, URL, Secret, Bridge and Feed are needed.
type Options struct {
	// ID names the hook in logs, metrics and health.
	ID string
	// URL is http or https. It is never logged beyond its host: addresses of hooks often hold a secret.
	URL string
	// Secret is asked for at each request, so that a file may be renewed.
	Secret func() (string, error)
	// CAFile and Fingerprint say whom to trust behind https: see package trust.
	CAFile, Fingerprint string
	// Types and Cameras are the events that the hook wants: those of any of these types and of any of these cameras. None of
	// either means all.
	Types, Cameras []string
	// EndedOnly leaves out events that go on; they come when they have ended.
	EndedOnly bool
	// Timeout bounds a request from dialling to the last byte; 0 means 10 s.
	Timeout time.Duration
	// Bridge is the bridge's id, told to the hook.
	Bridge    string
	UserAgent string

	Feed home.Feed
	Caps home.Caps

	// FirstPause and MaxPause bound the wait after a failure; 0 means 1 s and 5 min.
	FirstPause, MaxPause time.Duration
	// StuckAfter is how long an event must have failed with answers of its own, while others were taken, to be left out; 0
	// means 10 min.
	StuckAfter time.Duration
	Log        *slog.Logger // nil: nothing is logged
	Registerer prometheus.Registerer
}

// Hook is an address that gets the events. Make it with New; Run may be called once.
type Hook struct {
	opts   Options
	http   *http.Client
	ledger *home.Ledger
}

// New checks the options. It does no I/O but reading CAFile.
func New(o Options) (*Hook, error) {
	u, err := url.Parse(o.URL)
	if err != nil || u.Hostname() == "" || u.User != nil || u.Fragment != "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, errors.New("a hook's address must look like https://host/path, without user name and #")
	}
	if o.ID == "" || o.Secret == nil || o.Bridge == "" || o.Feed == nil {
		return nil, errors.New("make a hook: ID, Secret, Bridge and Feed are needed")
	}
	set := func(d *time.Duration, to time.Duration) {
		if *d == 0 {
			*d = to
		}
	}
	set(&o.Timeout, 10*time.Second)
	set(&o.FirstPause, time.Second)
	set(&o.MaxPause, 5*time.Minute)
	set(&o.StuckAfter, 10*time.Minute)
	if o.UserAgent == "" {
		o.UserAgent = "vmsbridge"
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	h := &Hook{opts: o}
	if h.http, err = newClient(o); err != nil {
		return nil, err
	}
	h.ledger = home.NewLedger("webhook", o.ID, o.Feed, o.Caps, o.Registerer, o.Log.With("host", u.Host))
	return h, nil
}

// Status is how the hook is.
func (h *Hook) Status() home.Status { return h.ledger.Status() }

// Run hands events over until ctx is done, then what is left for a moment. It returns nil.
func (h *Hook) Run(ctx context.Context) error {
	defer h.http.CloseIdleConnections()
	var g errgroup.Group
	g.Go(func() error { return h.ledger.Keep(ctx) })
	newLine(h).run(ctx)
	return g.Wait()
}

// wants says whether the hook is to get a change. What it does not want is dealt with.
func (h *Hook) wants(c home.Change) bool {
	o := &h.opts
	switch {
	case !c.Newest, o.EndedOnly && c.Event.Ongoing(),
		len(o.Types) > 0 && !slices.Contains(o.Types, c.Event.Type),
		len(o.Cameras) > 0 && (c.Event.ActorType != vms.ActorCamera || !slices.Contains(o.Cameras, c.Event.ActorID)):
		return false
	}
	return true
}

// hint says what a person can do about a failure.
func (h *Hook) hint(v verdict) string {
	if v.kind == ofSetup {
		return "the webhook " + h.opts.ID + " turns the bridge away: are its address and secret right?"
	}
	if trust.Untrusted(v.err) {
		return "the certificate of the webhook " + h.opts.ID + " is not trusted: set its ca_file or tls_fingerprint"
	}
	if v.answer {
		return "the webhook " + h.opts.ID + " does not take events at the moment; they wait"
	}
	return "the webhook " + h.opts.ID + " cannot be reached; its events wait"
}
