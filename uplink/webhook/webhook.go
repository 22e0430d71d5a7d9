package webhook

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vmsbridge/uplink/delivery"
	"vmsbridge/uplink/vms"
)

// Options of New. ID, URL, Secret and Feed are needed.
type Options struct {
	// ID names the hook in logs, metrics and health.
	ID string
	// URL is http or https. It is never logged beyond its host: addresses of hooks often hold a
	// secret.
	URL string
	// Secret is asked for at each request, so that a file may be renewed.
	Secret func() (string, error)
	// CAFile and Fingerprint say whom to trust behind https: see delivery.Trust.
	CAFile, Fingerprint string
	// Types and Cameras are the events that the hook wants: those of any of these types and of any
	// of these cameras. None of either means all.
	Types, Cameras []string
	// EndedOnly leaves out events that go on; they come when they have ended.
	EndedOnly bool
	// Choose is an event as the hook is to get it, ok false for none; it is asked beside Types,
	// Cameras and EndedOnly, and again before each attempt. An error says that this is not known
	// now. nil: each as it is.
	Choose func(vms.Event) (ev vms.Event, ok bool, err error)
	// Show is an event with its pictures for the hook, made anew for each attempt; it must not
	// change the data of the event that it is given. nil: each as it is.
	Show func(vms.Event) vms.Event
	// Dial makes the connections, without a proxy. nil: by the environment's proxy.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Timeout bounds a request from dialling to the last byte; 0 means 10 s.
	Timeout time.Duration
	// Bridge is the bridge's id, told to the hook. "": it is not a bridge that asks.
	Bridge    string
	UserAgent string

	Feed delivery.Feed
	Caps delivery.Caps

	// FirstPause and MaxPause bound the wait after a failure; 0 means 1 s and 5 min.
	FirstPause, MaxPause time.Duration
	// StuckAfter is how long an event must have failed with answers of its own, while others were
	// taken, to be left out; 0 means 10 min.
	StuckAfter time.Duration
	Log        *slog.Logger // nil: nothing is logged
	Registerer prometheus.Registerer
}

// Hook is an address that gets the events. Make it with New; Run may be called once.
type Hook struct {
	*delivery.Follower
	opts Options
	http *http.Client
}

// New checks the options. It does no I/O but reading CAFile.
func New(o Options) (*Hook, error) {
	u, err := url.Parse(o.URL)
	if err != nil || u.Hostname() == "" || u.User != nil || u.Fragment != "" ||
		(u.Scheme != "http" && u.Scheme != "https") {
		return nil, errors.New("a hook's address must look like https://host/path, without user name and #")
	}
	if o.ID == "" || o.Secret == nil || o.Feed == nil {
		return nil, errors.New("make a hook: ID, Secret and Feed are needed")
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
	h.Follower = delivery.Follow(h, delivery.FollowOptions{Kind: "webhook", Name: o.ID, Feed: o.Feed, Caps: o.Caps,
		Wants: h.wants,
		Engine: delivery.Options{Concurrency: lanes, Turn: turn, FirstPause: o.FirstPause, MaxPause: o.MaxPause,
			StuckAfter: o.StuckAfter, Proofs: proofs},
		Log: o.Log.With("host", u.Host), Registerer: o.Registerer})
	return h, nil
}

// proofs is how often an event must have failed, each time after others were taken, to be left out.
const proofs = 5

// Run hands events over until ctx is done, then what is left for a moment. It returns nil.
func (h *Hook) Run(ctx context.Context) error {
	defer h.http.CloseIdleConnections()
	return h.Follower.Run(ctx)
}

// wants says whether the hook is to get a change. What it does not want is dealt with.
func (h *Hook) wants(q vms.Queued) bool {
	o := &h.opts
	switch {
	case !q.Newest, o.EndedOnly && q.Event.Ongoing(),
		len(o.Types) > 0 && !slices.Contains(o.Types, q.Event.Type),
		len(o.Cameras) > 0 && (q.Event.ActorType != vms.ActorCamera || !slices.Contains(o.Cameras, q.Event.ActorID)):
		return false
	}
	if o.Choose != nil {
		_, ok, err := o.Choose(q.Event)
		return ok || err != nil // Send asks again
	}
	return true
}
