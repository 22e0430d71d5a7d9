package web

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"vmsbridge/uplink/admit"
	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/api"
	"vmsbridge/uplink/identity/session"
	"vmsbridge/uplink/identity/store"
	"vmsbridge/uplink/route"
)

// call is one request under way.
type call struct {
	*Web
	endpoint Endpoint
	w        http.ResponseWriter
	r        *http.Request
	set      *api.Params
	from     netip.Addr
	// caller is who is signed in; empty where the endpoint needs no session.
	caller session.Caller
	// right says that what the request showed was right, so that it was no guess. What makes the
	// service send something to somebody counts all the same.
	right bool
}

// routes serves every path with its methods.
func (w *Web) routes() {
	w.router = route.New(route.Options{Fail: w.fail, Before: w.CORS, Log: w.log})
	paths := map[string]route.Methods{}
	for _, e := range Endpoints {
		if paths[e.Path] == nil {
			paths[e.Path] = route.Methods{}
		}
		paths[e.Path][e.Method] = func(rw http.ResponseWriter, r *http.Request) error { return w.serve(rw, r, e) }
	}
	for path, methods := range paths {
		w.router.Handle(path, methods)
	}
}

// ServeHTTP answers one request.
func (w *Web) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	h := rw.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Vary", "Authorization, Cookie, Origin")
	w.router.ServeHTTP(rw, r)
}

// serve checks what all endpoints have in common, in this order: how often, the API key and the
// session as far as they stand in the head, where the request comes from, its form, its session. An
// unreadable request is a 400 only once the session is known to be good: 401 stands above it.
func (w *Web) serve(rw http.ResponseWriter, r *http.Request, e Endpoint) error {
	c := &call{Web: w, endpoint: e, w: rw, r: r, from: w.Client(r)}
	g := w.guess(r)
	if e.limited && !g.address() {
		return errTooMany
	}
	if w.o.CheckKey != nil {
		if ok, err := w.o.CheckKey(api.APIKey(r)); err != nil {
			return err
		} else if !ok {
			return errKey
		}
	}
	shown, err := c.early()
	if err != nil {
		return err
	}
	set, malformed := c.read()
	c.set = set
	key, source := set.Session()
	if e.checksOrigin(source) {
		if err := w.SameSite(r); err != nil {
			return err
		}
	}
	if e.session && (shown == "" || shown != key) {
		if c.caller, err = w.sessions.Caller(key, c.from); err != nil {
			return err
		}
	}
	if malformed != nil {
		return malformed
	}
	if e.limited {
		if ok, err := g.about(c.limitedUser()); err != nil {
			return err
		} else if !ok {
			return errTooMany
		}
	}
	c.r = g.inTurn(r)
	body, err := e.serve(c)
	err = e.closed(err)
	if e.limited && (c.right || isAsking(err)) {
		g.giveBack()
	}
	if err != nil {
		return err
	}
	return c.answer(e.Codes[0], body)
}

// isAsking says whether an answer is about what was asked for and tells nothing of secrets: those
// that are wrong have codes of their own, which stand above these two.
func isAsking(err error) bool {
	var e *api.Error
	return errors.As(err, &e) && (e.Code == api.CodeArguments || e.Code == api.CodeFactor)
}

// early looks at the session that stands in the head, before a body is read: a bad one in the query
// is refused, since nothing in the body stands above it. It returns the session if it is good, and
// its caller is known then.
func (c *call) early() (shown string, err error) {
	if !c.endpoint.session {
		return "", nil
	}
	head, _ := api.ReadHead(c.r) // what cannot be read is for later
	key, source := head.Session()
	caller, err := c.sessions.Caller(key, c.from)
	if err == nil {
		c.caller = caller
		admit.Known(c.r.Context()) // its body may be as large as bodies may be
		return key, nil
	}
	if source == api.FromQuery && !c.endpoint.checksOrigin(source) {
		return "", err
	}
	return "", nil // the origin may stand above it, or the body may hold another
}

// read reads the parameters. Those of GET stand in the query, and it has no body. malformed says
// what could not be read; the set holds the rest then, the session in a cookie at least. Where the
// interface lists no 400, what cannot be read is ignored.
func (c *call) read() (set *api.Params, malformed error) {
	set, malformed = api.ReadHead(c.r)
	if c.endpoint.Method != http.MethodGet && malformed == nil {
		whole, err := api.Read(c.w, c.r)
		if err == nil {
			set = whole
		}
		malformed = err
	}
	if !slices.Contains(c.endpoint.Codes, api.CodeArguments) {
		malformed = nil
	}
	return set, malformed
}

// SameSite refuses what another site's page made a browser send with its cookie, or to sign it in
// as someone else. A client that is no browser sends neither of the headers that this looks at.
// Signing out by GET counts as a change.
func (w *Web) SameSite(r *http.Request) error {
	check := r
	if (r.Method == http.MethodGet || r.Method == http.MethodHead) &&
		strings.HasSuffix(strings.TrimRight(r.URL.Path, "/"), "/logout") {
		r2 := *r
		r2.Method, check = http.MethodPost, &r2
	}
	if err := w.cross.Check(check); err != nil {
		return errCrossSite
	}
	return nil
}

var (
	errCrossSite = api.NewError(api.CodeForbidden, "CrossOrigin", "a page of another site may not do this")
	errKey       = api.NewError(api.CodeInvalid, "InvalidAPIKey", "the header Authentication holds no valid API key")
	errTooMany   = api.NewError(api.CodeLocked, "TooManyRequests", "too many requests; try again in a minute")
	errPrivilege = api.NewError(api.CodeForbidden, "MissingPrivileges", "the user lacks the privileges for this")
	errNoAccount = api.NewError(api.CodeNotFound, "AccountNotFound", "there is no such account")
	errNoUser    = api.NewError(api.CodeNotFound, "UserNotFound", "there is no such user")
	errNoDevice  = api.NewError(api.CodeNotFound, "DeviceNotFound", "there is no such device")
	errAway      = api.NewError(api.CodeAway, "NotConfigured", "this service is not set up for that")
)

// expect checks the names of the parameters.
func (c *call) expect(known ...string) error {
	if c.endpoint.lenient {
		return nil
	}
	return c.set.Expect(known...)
}

// text reads parameters that must be there, then those in optional, and no others.
func (c *call) text(need []string, optional ...string) (map[string]string, error) {
	if err := c.expect(append(slices.Clone(need), optional...)...); err != nil {
		return nil, err
	}
	if err := c.set.Need(need...); err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, name := range append(slices.Clone(need), optional...) {
		v, err := c.set.Text(name)
		if strings.HasPrefix(name, "is_") {
			continue // a flag, which the caller reads
		}
		if err != nil {
			return nil, err
		}
		out[name] = v
	}
	return out, nil
}

// update runs a change with the caller as it is inside the transaction, so that rights taken away a
// moment ago count.
func (c *call) update(f func(tx *store.Tx, me session.Caller) error) error {
	key, _ := c.set.Session()
	return c.store.Update(func(tx *store.Tx) error {
		me, err := c.sessions.CallerIn(tx, key, c.from)
		if err != nil {
			return err
		}
		return f(tx, me)
	})
}

// view is update for reading.
func (c *call) view(f func(tx *store.Tx, me session.Caller) error) error {
	key, _ := c.set.Session()
	return c.store.View(func(tx *store.Tx) error {
		me, err := c.sessions.CallerIn(tx, key, c.from)
		if err != nil {
			return err
		}
		return f(tx, me)
	})
}

// rows writes a JSON array, which is sent while it is made: a long one stands nowhere in
// whole, and ends when its client has left.
func (c *call) rows(all iter.Seq[any]) error {
	c.w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w := bufio.NewWriterSize(c.w, 32<<10)
	before := byte('[')
	for row := range all {
		raw, err := json.Marshal(row)
		if err == nil {
			err = errors.Join(w.WriteByte(before), c.r.Context().Err())
		}
		if err == nil {
			_, err = w.Write(raw)
		}
		if err != nil {
			panic(http.ErrAbortHandler) // nobody must take a part for the whole
		}
		before = ','
	}
	if before == '[' {
		_ = w.WriteByte('[')
	}
	_ = w.WriteByte(']')
	_ = w.Flush() // the client may be gone
	return nil
}

// answer writes a success, with a JSON body unless that is nil. One that is an iter.Seq[any] is an
// array.
func (c *call) answer(code int, v any) error {
	if all, ok := v.(iter.Seq[any]); ok {
		return c.rows(all)
	}
	if v == nil {
		c.w.WriteHeader(code)
		return nil
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("write answer: %w", err)
	}
	c.w.Header().Set("Content-Type", "application/json; charset=utf-8")
	c.w.WriteHeader(code)
	_, _ = c.w.Write(raw) // the client may be gone
	return nil
}

// last orders answers by the endpoint's list.
func (c *call) last(errs ...error) error {
	var held api.Held
	for _, err := range errs {
		var e *api.Error
		if errors.As(err, &e) {
			held.Add(true, e)
		} else if err != nil {
			return err
		}
	}
	return held.Last(c.endpoint.refusals()...)
}

// found turns the store's "not found" into an answer.
func found(err error, answer *api.Error) error {
	if errors.Is(err, identity.ErrNotFound) {
		return answer
	}
	return err
}

// fail writes an error body in the form of the public service. What is no *api.Error is a fault of
// ours: it is logged, and its text stays here.
func (w *Web) fail(rw http.ResponseWriter, r *http.Request, _ string, err error) {
	var e *api.Error
	var method *route.MethodError
	switch {
	case errors.Is(err, route.ErrNotFound):
		e = api.NewError(api.CodeNotFound, "EndpointNotFound", err.Error())
	case errors.As(err, &method):
		e = api.NewError(api.CodeMethod, "MethodNotAllowed", err.Error())
	case !errors.As(err, &e):
		if r.Context().Err() != nil {
			return // the client has gone, nobody reads the answer
		}
		w.log.Error("a request could not be answered", "method", r.Method, "path", r.URL.Path, "error", err)
		e = api.NewError(api.CodeFault, "UnexpectedError", "the server could not answer; its log says why")
	}
	if e == errTooMany {
		rw.Header().Set("Retry-After", strconv.Itoa(retryAfterSeconds))
	}
	raw, err := json.Marshal(struct {
		StatusCode int    `json:"status_code"`
		Message    string `json:"message"`
		Reason     string `json:"reason"`
		Data       any    `json:"data,omitempty"`
	}{e.Code, e.Message, e.Reason, e.Data})
	if err != nil {
		raw = []byte("{}")
	}
	rw.Header().Set("Content-Type", "application/json; charset=utf-8")
	rw.WriteHeader(e.Code)
	_, _ = rw.Write(raw) // the client may be gone
}
