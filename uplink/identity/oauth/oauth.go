package oauth

import (
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"vmsbridge/uplink/identity/session"
	"vmsbridge/uplink/identity/store"
	"vmsbridge/uplink/route"
	"vmsbridge/uplink/vms"
)

// Gate is what this shares with the handler of /g/, identity/web.
type Gate interface {
	// Client is the address that a request comes from.
	Client(*http.Request) netip.Addr
	// Allow counts a request about a user, "" for nobody, and says whether it is let through. next
	// is the request in its turn for what costs much; right makes it count no more as a guess: what
	// it showed was right.
	Allow(r *http.Request, who string) (next *http.Request, right func(), ok bool, err error)
	// CORS lets the pages of other origins read an answer, those that are configured. allow are the
	// methods of the path.
	CORS(w http.ResponseWriter, r *http.Request, allow string)
	// SameSite is an error for what another site's page made a browser send.
	SameSite(*http.Request) error
	// SignedIn sets the cookies of a session that was just opened.
	SignedIn(http.ResponseWriter, *http.Request, session.Opened)
}

// Options of New. Store, Desk and Gate are needed.
type Options struct {
	Store    *store.Store
	Sessions *session.Service
	Gate     Gate
	// BaseURL is the address of /api/v3.0 that answers tell, such as https://cloud.example.org; ""
	// is the host that the client used, if it is one that vms.Here takes, with Host to know names.
	BaseURL string
	Host    func(name string) bool // nil: no names
	// SignIn is a page to which people who are not signed in are sent from /oauth2/authorize, with
	// the address to come back to in the parameter next. "" shows browsers a page of this package,
	// and answers others 401.
	SignIn string
	Log    *slog.Logger
}

// How long what is issued is good: access tokens and refresh tokens as the public service's.
const (
	accessTime  = 12 * time.Hour
	refreshIdle = 14 * 24 * time.Hour
	refreshLife = 90 * 24 * time.Hour
	codeTime    = 5 * time.Minute
)

// OAuth is the handler of /oauth2/ and PathReseller. Safe for concurrent use; starts no goroutine.
type OAuth struct {
	o        Options
	store    *store.Store
	sessions *session.Service
	router   *route.Router
	log      *slog.Logger
}

// New makes the handler.
func New(o Options) (*OAuth, error) {
	if o.Store == nil || o.Sessions == nil || o.Gate == nil {
		return nil, errors.New("make oauth: Store, Desk and Gate are needed")
	}
	s := &OAuth{o: o, store: o.Store, sessions: o.Sessions, log: o.Log}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.router = route.New(route.Options{Fail: s.fail, Before: o.Gate.CORS, Log: s.log})
	s.route("/oauth2/authorize", map[string]handler{http.MethodGet: s.authorize, http.MethodPost: s.authorize})
	s.route(pathSignIn, map[string]handler{http.MethodPost: s.signIn})
	s.route("/oauth2/consents", map[string]handler{http.MethodGet: s.consents, http.MethodDelete: s.endConsent})
	s.route("/oauth2/token", map[string]handler{http.MethodPost: s.token})
	s.route("/oauth2/revoke", map[string]handler{http.MethodPost: s.revoke})
	for path, kind := range map[string]holding{"/oauth2/clients": clients, "/oauth2/keys": apiKeys} {
		s.route(path, map[string]handler{http.MethodGet: s.held(kind, s.list),
			http.MethodPost: s.held(kind, s.create), http.MethodDelete: s.held(kind, s.remove)})
	}
	for _, name := range []string{"openid-configuration", "oauth-authorization-server"} {
		s.route(PathWellKnown+name, map[string]handler{http.MethodGet: s.discovery})
	}
	reseller := route.New(route.Options{Fail: s.failReseller, Before: anyOrigin, Log: s.log})
	reseller.Handle(PathReseller, route.Methods{http.MethodPost: s.reseller})
	s.router.Mount(PathReseller, reseller)
	return s, nil
}

// here is the address of this server, as it was set or as the client may be told it.
func (s *OAuth) here(r *http.Request) *url.URL {
	var public *url.URL
	if s.o.BaseURL != "" {
		if u, err := url.Parse(s.o.BaseURL); err == nil {
			public = u
		}
	}
	return vms.Here(r, public, s.o.Host)
}
