package server

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vmsbridge/uplink/admit"
	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/route"
	"vmsbridge/uplink/server/feed"
	"vmsbridge/uplink/vms"
)

// EventStore holds the events. Own makes one of storage/journal. Its methods must be safe for
// concurrent use.
type EventStore interface {
	// Put stores ev under ev.ID, replacing what was there, and returns when it is durable. report
	// says whether it is to be reported onwards.
	//
	// An event with an owner takes the place of no other owner's: then the error wraps
	// vms.ErrOwned, and nothing changes.
	Put(ev vms.Event, report bool) error
	// Get is an account's event of an id. The error wraps Options.NotFound if there is none.
	Get(account, id string) (vms.Event, error)
	// List answers the page of q that c names; c is nil for the first one. q.PageSize is set, and
	// each actor's Account.
	List(q vms.Query, c *vms.Cursor) (vms.Page, error)
}

// Own makes an EventStore of a store that has the events of one account only, such as the bridge's
// journal.
type Own struct{ OwnStore }

// OwnStore is what Own needs.
type OwnStore interface {
	Put(ev vms.Event, report bool) error
	PutAll(events []vms.Event, report bool) error
	Get(id string) (vms.Event, error)
	List(q vms.Query, c *vms.Cursor) (vms.Page, error)
}

// Get is the store's event of an id, whoever asks.
func (o Own) Get(_, id string) (vms.Event, error) { return o.OwnStore.Get(id) }

// CameraSource knows the cameras and other actors of an account. It answers from memory.
type CameraSource interface {
	// CameraIDs are the ids of the account's cameras in order; if holder is not "", only of those
	// whose bridges a credential of that holder registered. Nobody changes the slice.
	CameraIDs(account, holder string) []string
	// CameraOf is one of them with its status, ok false if there is none of that id.
	CameraOf(account, id string) (cam vms.Camera, ok bool)
	// HasActor says whether the account has (or had) that actor, so that events may be reported and
	// listed for it.
	HasActor(ctx context.Context, account string, a vms.Actor) (bool, error)
}

// ImageSource holds or fetches stills. A *vms.Error that it returns is the answer: 404 with the
// reason where there is no image, 503 where the device is away.
type ImageSource interface {
	Image(ctx context.Context, q ImageQuery) (Image, error)
}

// ImageQuery asks for one still. Op is one of the vms.Op constants; Time is exact to the
// nanosecond.
type ImageQuery struct {
	Account, Camera string
	Kind            string // vms.ImagePreview or vms.ImageMain
	Op              string
	Time            time.Time
	// Known is when an image was taken that the client has: if it is the one asked for, Body need
	// not hold it.
	Known time.Time
}

// Image is a JPEG and when it was taken. The server closes Body. Length is -1 if unknown.
type Image struct {
	Time   time.Time
	Length int64
	Body   io.ReadCloser
}

// Authenticator finds who a bearer token belongs to: identity/store.Store or identity.Fixed.
type Authenticator interface {
	Authenticate(token string) (identity.Principal, error)
}

// BridgeRegistry takes in the registrations of bridges, and knows what each has. Only vmscloud has
// one.
type BridgeRegistry interface {
	// Register stores r, which is checked already, for the account of p. A *vms.Error is the
	// answer.
	Register(ctx context.Context, p identity.Principal, r vms.Registration) error
	// IsBridge says whether a credential is a bridge's, which sees and reports only what the bridge
	// has.
	IsBridge(p identity.Principal) bool
	// BridgeOf is the bridge that a credential has registered, "" if it has none.
	BridgeOf(p identity.Principal) string
	// Keeper is the bridge that has an actor, a bridge itself, and the holder of the credential
	// that registered that bridge; "" for what no bridge has.
	Keeper(account string, a vms.Actor) (bridge, holder string)
}

// Options of New. Events, Cameras and Auth are needed.
type Options struct {
	Events  EventStore
	Cameras CameraSource
	Images  ImageSource // nil: there are no images
	Auth    Authenticator
	Bridges BridgeRegistry // nil: the endpoint does not exist
	Tunnels Tunnels        // nil: the endpoint does not exist
	// Refused are the cameras of a bridge's registration that its account may not have. nil: there
	// are none.
	Refused func(account, bridge string) []vms.RefusedCamera
	// Twins reports whether two bridges that run have registered as one. nil: it is not known.
	Twins func(account, bridge string) bool
	// Unasked says why bridges will not be asked at an address that they register, "" if they will.
	// nil: they will at any.
	Unasked func(address string) string
	// Feed tells of each event that is stored. nil: nobody can subscribe.
	Feed *feed.Feed
	// Subscriptions keeps subscriptions over a restart. nil: they end with the program.
	Subscriptions SubscriptionStore
	// Webhooks delivers to addresses that callers name. nil: nobody does, and only streams are
	// offered.
	Webhooks Webhooks
	// Directory knows users and accounts. nil: only users/self is answered.
	Directory Directory
	// Statuses knows better than Cameras how a single camera is. nil: nobody does.
	Statuses Statuses
	// Report is passed to Events.Put for events that clients report: true on the bridge, which
	// sends them on.
	Report bool
	// NotFound is the error that Events.Get wraps for an unknown id.
	NotFound error
	// BaseURL is the address under which clients reach this server, for clientSettings. "" answers
	// the host that the client used, if it is one that vms.Here takes, with Host to know names.
	BaseURL string
	Host    func(name string) bool // nil: no names
	// TokenKey signs page tokens; with the same key they stay good over a restart. nil: a random
	// one.
	TokenKey   []byte
	Log        *slog.Logger          // nil: nothing is logged
	Registerer prometheus.Registerer // nil: nothing is counted
}

// Server is the handler. Safe for concurrent use; starts no goroutine.
type Server struct {
	opts    Options
	base    *url.URL // nil if not set
	signer  signer
	log     *slog.Logger
	metrics *metrics
	router  *route.Router
	served  map[string]operation
	recheck time.Duration
	turns   Turns  // of natural ids
	sights  sights // of open streams
	subs    subscriptions

	connections connections
}

// New makes the handler for /api/v3.0/. Other paths are answered with 404, so mount it under
// "/api/".
func New(o Options) (*Server, error) {
	if o.Events == nil || o.Cameras == nil || o.Auth == nil {
		return nil, errors.New("make server: Events, Cameras and Auth are needed")
	}
	s := &Server{served: map[string]operation{}, opts: o, log: o.Log, metrics: newMetrics(o.Registerer),
		recheck: recheck,
		subs:    subscriptions{feed: o.Feed, store: o.Subscriptions, all: map[string]*subscription{}}}
	if err := s.subs.load(); err != nil {
		return nil, err
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.router = route.New(route.Options{Fail: s.fail, Before: allowOrigins, Log: s.log})
	if o.BaseURL != "" {
		u, err := url.Parse(o.BaseURL)
		if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			return nil, errors.New("make server: the public address must look like https://host or http://host:port")
		}
		s.base = u
	}
	s.signer.key = o.TokenKey
	if len(s.signer.key) == 0 {
		s.signer.key = make([]byte, 32)
		_, _ = rand.Read(s.signer.key) // never fails
	}
	s.routes()
	return s, nil
}

// routes serves the operations for which the server has what they need.
func (s *Server) routes() {
	s.router.Handle(pathOpenAPI, route.Methods{http.MethodGet: s.openAPI})
	paths := map[string]route.Methods{}
	for name, o := range operations() {
		if o.needs != nil && !o.needs(s.opts) {
			continue
		}
		s.served[name] = o
		method, path, _ := strings.Cut(name, " ")
		if paths[v3+path] == nil {
			paths[v3+path] = route.Methods{}
		}
		paths[v3+path][method] = s.handler(v3+path, o)
	}
	for path, methods := range paths {
		s.router.Handle(path, methods)
	}
}

// requestsPerConnection is how many a client may have at a time over HTTP/2. A browser has one
// connection; over HTTP/1.1 it has six, and asks for no more at a time.
const requestsPerConnection = 8

// NewHTTP wraps a handler in a server with the limits that both programs use. The caller sets Addr
// or gives a listener, and shuts it down.
func NewHTTP(h http.Handler, log *slog.Logger) *http.Server {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &http.Server{
		Handler:           admit.Bodies(held(route.Clean(h))),
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       admit.BodyTime,
		WriteTimeout:      90 * time.Second, // an image that a bridge sends slowly
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		// A connection keeps some memory for each request that it ever had at the same time, and
		// for the longest frame that it ever announced (by default 1 MiB, before it came).
		HTTP2: &http.HTTP2Config{MaxConcurrentStreams: requestsPerConnection,
			MaxReadFrameSize: 16 << 10}, // the least that RFC 9113 §4.2 allows
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}
