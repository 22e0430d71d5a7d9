package oauth

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"vmsbridge/uplink/identity/api"
	"vmsbridge/uplink/route"
)

// Error is an answer of RFC 6749 §5.2. Its description is for the developer of a client and holds
// nothing secret.
type Error struct {
	Status      int    `json:"-"`
	Code        string `json:"error"`
	Description string `json:"error_description"`
}

// Error is the text for a log.
func (e *Error) Error() string { return e.Code + ": " + e.Description }

func refuse(code, description string) *Error {
	return &Error{http.StatusBadRequest, code, description}
}

var (
	errClient  = &Error{http.StatusUnauthorized, "invalid_client", "the client is not known, or its secret is wrong"}
	errTooMany = &Error{http.StatusTooManyRequests, "temporarily_unavailable",
		"too many requests; try again in a minute"}
	errSession = &Error{http.StatusUnauthorized, "login_required", "sign in first: there is no valid session"}
	errSite    = &Error{http.StatusForbidden, "access_denied", "a page of another site may not do this"}
	errFault   = &Error{http.StatusInternalServerError, "server_error", "the server could not answer; its log says why"}
)

// call is a request with its parameters.
type call struct {
	r    *http.Request
	set  *api.Params
	from netip.Addr
	// right says that what the request showed was right, so that it was no guess.
	right bool
}

type handler func(w http.ResponseWriter, c *call) error

// route serves a path with its methods.
func (s *OAuth) route(path string, methods map[string]handler) {
	all := route.Methods{}
	for method, h := range methods {
		all[method] = func(w http.ResponseWriter, r *http.Request) error {
			if r.Method == http.MethodHead {
				r = r.Clone(r.Context())
				r.Method = http.MethodGet // for what tells a question from a change by the method
			}
			return s.serve(w, r, h)
		}
	}
	s.router.Handle(path, all)
}

// ServeHTTP answers one request.
func (s *OAuth) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Pragma", "no-cache")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Vary", "Authorization, Cookie, Origin")
	s.router.ServeHTTP(w, r)
}

// serve limits and reads a request. Clients were seen to put the parameters of POST into the query,
// so both count; a parameter that is given twice is refused, as RFC 6749 §3.2 wants.
func (s *OAuth) serve(w http.ResponseWriter, r *http.Request, h handler) error {
	c := &call{r: r, from: s.o.Gate.Client(r)}
	malformed := c.read(w)
	who := ""
	if malformed == nil {
		who, _ = c.text("username")
	}
	next, right, ok, err := s.o.Gate.Allow(r, who)
	if err != nil {
		return err
	} else if !ok {
		return s.tooMany(w, c)
	}
	c.r = next
	if malformed != nil {
		return malformed
	}
	if err := h(w, c); err != nil {
		return err
	}
	if c.right {
		right()
	}
	return nil
}

func (c *call) read(w http.ResponseWriter) error {
	query, err := url.ParseQuery(c.r.URL.RawQuery)
	if err != nil {
		return refuse("invalid_request", "the query cannot be read")
	}
	for name, list := range query {
		if len(list) > 1 {
			return refuse("invalid_request", "a parameter is given twice: "+ascii(name))
		}
	}
	c.set, err = api.Read(w, c.r)
	return err
}

// text is a parameter, "" if it was not sent.
func (c *call) text(name string) (string, error) { return c.set.Text(name) }

// texts reads parameters in order.
func (c *call) texts(names ...string) ([]string, error) {
	out := make([]string, len(names))
	for i, name := range names {
		v, err := c.set.Text(name)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

// fail writes an error. What is neither ours nor a *api.Error is a fault: it is logged, and its
// text stays here.
func (s *OAuth) fail(w http.ResponseWriter, r *http.Request, _ string, err error) {
	var e *Error
	var other *api.Error
	var method *route.MethodError
	switch {
	case errors.Is(err, route.ErrNotFound):
		e = &Error{http.StatusNotFound, "not_found", err.Error()}
	case errors.As(err, &method):
		e = &Error{http.StatusMethodNotAllowed, "invalid_request", err.Error()}
	case errors.As(err, &e):
	case errors.As(err, &other) && other.Code < 500:
		e = refuse("invalid_request", ascii(other.Message))
		if other.Code == api.CodeTooLarge {
			e.Status = api.CodeTooLarge
		}
	default:
		if r.Context().Err() != nil {
			return // the client has gone, nobody reads the answer
		}
		s.log.Error("a request could not be answered", "method", r.Method, "path", r.URL.Path, "error", err)
		e = errFault
	}
	switch {
	case e == errTooMany:
		w.Header().Set("Retry-After", "60")
	case e == errClient && r.Header.Get("Authorization") != "":
		w.Header().Set("WWW-Authenticate", `Basic realm="oauth2", charset="UTF-8"`)
	}
	_ = answer(w, e.Status, e)
}

// ascii keeps a text to the characters that RFC 6749 §5.2 allows in a description.
func ascii(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r > 0x7e || r == '"' || r == '\\' {
			return '\''
		}
		return r
	}, s)
}

// answer writes JSON.
func answer(w http.ResponseWriter, code int, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(code)
	_, _ = w.Write(raw) // the client may be gone
	return nil
}
