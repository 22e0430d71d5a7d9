package server

import (
	"errors"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"vmsbridge/uplink/admit"
	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/route"
	"vmsbridge/uplink/vms"
)

// call is one request whose token was good.
type call struct {
	w         http.ResponseWriter
	r         *http.Request
	principal identity.Principal
	args      *args // in the query
}

// expose lists the headers that a browser's program may read.
const expose = "X-Een-Timestamp, X-Een-NextToken, X-Een-PrevToken, X-Vms-Timestamp, X-Vms-NextToken, " +
	"X-Vms-PrevToken, X-Een-OverlaySvg, X-Vms-OverlaySvg, ETag, Location, Retry-After"

// handler serves an operation at a path.
func (s *Server) handler(path string, o operation) route.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		err := s.serve(w, r, o)
		if err == nil {
			s.metrics.count(path, http.StatusOK)
		}
		return err
	}
}

// allowOrigins lets the pages of any origin ask, since what is let in by a cookie are images for
// pages of the same site.
func allowOrigins(w http.ResponseWriter, r *http.Request, allow string) {
	if r.Method != http.MethodOptions {
		return
	}
	h := w.Header()
	h.Set("Access-Control-Allow-Methods", allow)
	h.Set("Access-Control-Allow-Headers",
		"Authorization, Content-Type, Accept, Accept-Language, Cache-Control, Last-Event-ID, *")
	h.Set("Access-Control-Max-Age", "86400")
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request, o operation) error {
	r, err := s.signedStream(r)
	if err != nil {
		return err
	}
	p, err := s.who(r)
	if err != nil {
		return err
	}
	if o.scope != "" && !p.May(o.scope) {
		return vms.NewError(http.StatusForbidden, vms.ReasonPermission, lacksScope(o.scope))
	}
	c := &call{w, r, p, parseArgs(r.URL.RawQuery, o.args...)}
	if len(o.args) == 0 {
		if err := c.args.err(); err != nil {
			return err
		}
	}
	return o.serve(s, c)
}

// lacksScope says how a token gets a scope.
func lacksScope(scope string) string {
	if scope == identity.ScopeAll {
		return "This token lacks the scope " + scope + ". Only a token of OAuth may have it, one for a user who " +
			"asked for scope=" + scope + "; tokens of a bridge's configuration and of vmscloud token create do not"
	}
	return "This token lacks the scope " + scope +
		". A token of a bridge's configuration gets it by `scopes: [read, report]` beside its name in api.tokens, " +
		"one of the service by --scope when vmscloud token create makes it, one of OAuth when it is asked for with " +
		"that scope"
}

// authenticate reads the header "Authorization: Bearer TOKEN".
func authenticate(auth Authenticator, r *http.Request) (identity.Principal, error) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	token = strings.TrimSpace(token)
	if token == "" || !strings.EqualFold(scheme, "Bearer") {
		return identity.Principal{}, unauthenticated()
	}
	return authenticateToken(auth, r, token)
}

// authenticateToken finds whose token came with a request.
func authenticateToken(auth Authenticator, r *http.Request, token string) (identity.Principal, error) {
	p, err := auth.Authenticate(token)
	if errors.Is(err, identity.ErrUnknown) {
		return identity.Principal{}, unauthenticated()
	}
	// Where the request comes from is the address of the connection: what is in front of this puts
	// the client's there.
	if err == nil && p.Ranges != nil {
		at, _ := netip.ParseAddrPort(r.RemoteAddr) // the zero address is within no range
		if !p.From(at.Addr()) {
			return identity.Principal{}, unauthenticated()
		}
	}
	if err == nil {
		admit.Known(r.Context())
	}
	return p, err
}

func unauthenticated() error {
	return vms.NewError(http.StatusUnauthorized, vms.ReasonUnauthenticated,
		"The client caller does not have a valid authentication credential")
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	// Any origin may ask: a browser sends the cookie of images for pages of the same site only.
	h.Set("Access-Control-Allow-Origin", "*")
	if origin := r.Header.Get("Origin"); origin != "" && r.URL.Path == mediaPath+"/session" {
		// Programs ask here with the browser's cookies, which let nobody in.
		h.Set("Access-Control-Allow-Origin", origin)
		h.Set("Access-Control-Allow-Credentials", "true")
		h.Add("Vary", "Origin")
	}
	h.Set("Access-Control-Expose-Headers", expose)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	s.router.ServeHTTP(w, r)
}

// fail writes an error body. What is no *vms.Error is a fault of ours: it is logged, and its text
// stays here.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, pattern string, err error) {
	var e *vms.Error
	var method *route.MethodError
	switch {
	case errors.Is(err, route.ErrNotFound):
		pattern = "unknown"
		e = vms.NewError(http.StatusNotFound, vms.ReasonEndpoint, "The API endpoint was not found")
	case errors.As(err, &method):
		e = vms.NewError(http.StatusMethodNotAllowed, vms.ReasonMethod, "T"+method.Error()[1:])
	case !errors.As(err, &e):
		if r.Context().Err() != nil {
			return // the client has gone, nobody reads the answer
		}
		s.log.Error("a request could not be answered", "method", r.Method, "path", r.URL.Path, "error", err)
		e = vms.NewError(http.StatusInternalServerError, vms.ReasonUnexpectedError,
			"The server could not answer; its log says why")
	}
	body := *e
	body.Details = slices.Clone(e.Details)
	if len(body.Details) > 0 && body.Details[0].Metadata == nil {
		body.Details[0].Metadata = map[string]string{"path": r.URL.Path, "method": r.Method}
	}
	switch e.Code {
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", `Bearer realm="vms"`)
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		if w.Header().Get("Retry-After") == "" {
			w.Header().Set("Retry-After", strconv.Itoa(retryAfterSeconds))
		}
	}
	s.metrics.count(pattern, e.Code)
	writeJSON(w, e.Code, body)
}

// retryAfterSeconds is what a client is told when something is away for the moment.
const retryAfterSeconds = 2

// WithPrincipal lets only requests with a good bearer token and a scope through to a handler that
// is not part of the interface, and tells it who asks.
func WithPrincipal(auth Authenticator, scope string,
	next func(http.ResponseWriter, *http.Request, identity.Principal)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, err := authenticate(auth, r)
		if err == nil && !p.May(scope) {
			err = vms.NewError(http.StatusForbidden, vms.ReasonPermission, lacksScope(scope))
		}
		if err == nil {
			next(w, r, p)
			return
		}
		var e *vms.Error
		if !errors.As(err, &e) {
			e = vms.NewError(http.StatusInternalServerError, vms.ReasonUnexpectedError,
				"The server could not answer; its log says why")
		}
		w.Header().Set("Cache-Control", "no-store")
		writeJSON(w, e.Code, e)
	})
}

// WithToken lets only requests with a good bearer token through to a handler that is not part of
// the interface, such as the metrics.
func WithToken(auth Authenticator, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := authenticate(auth, r); err != nil {
			w.Header().Set("WWW-Authenticate", `Bearer realm="vms"`)
			http.Error(w, "send a token as Authorization: Bearer TOKEN", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}
