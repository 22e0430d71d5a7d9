// Package route serves paths by methods for the HTTP interfaces: HEAD where there is GET, OPTIONS,
// a 405 with Allow for all others, a trailing slash that means nothing, and a panic of a handler
// that costs one request. net/http's patterns with methods do some of it, but answer in plain text:
// here each interface writes its own errors. It is a leaf over net/http.
//
//	r := route.New(route.Options{Fail: s.fail, Log: log})
//	r.Handle("/cameras", route.Methods{"GET": s.list, "POST": s.add})
//	http.ListenAndServe(addr, r)
package route

import (
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"path"
	"runtime/debug"
	"slices"
	"strings"
)

// Handler writes an answer, or returns an error that Options.Fail turns into one.
type Handler func(w http.ResponseWriter, r *http.Request) error

// Methods are the handlers of a path. That of GET gets HEAD too.
type Methods map[string]Handler

// MethodError says that a path does not have the method of a request.
type MethodError struct {
	Method, Allow string
}

// Error names the methods that the path has.
func (e *MethodError) Error() string {
	return "the method " + e.Method + " is not supported here, only " + e.Allow
}

// ErrNotFound says that there is nothing at a path.
var ErrNotFound = errors.New("there is nothing at this path")

// Options of New. Fail is needed.
type Options struct {
	// Fail answers a request with an error: a handler's, ErrNotFound, a *MethodError, or any other
	// for a handler that panicked. The pattern is that of the path, "" if there is none.
	Fail func(w http.ResponseWriter, r *http.Request, pattern string, err error)
	// Before sets headers of every answer of a path; allow lists its methods. nil sets none.
	Before func(w http.ResponseWriter, r *http.Request, allow string)
	Log    *slog.Logger // nil logs nothing
}

// Router is a handler of paths. Safe for concurrent use once all paths are there.
type Router struct {
	o   Options
	mux *http.ServeMux
}

// New makes a router without paths.
func New(o Options) *Router {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	r := &Router{o, http.NewServeMux()}
	r.mux.HandleFunc("/", func(w http.ResponseWriter, q *http.Request) { o.Fail(w, q, "", ErrNotFound) })
	return r
}

// Handle serves a path. The pattern is that of http.ServeMux without a method.
func (t *Router) Handle(pattern string, methods Methods) {
	allowed := slices.Sorted(maps.Keys(methods))
	if methods[http.MethodGet] != nil {
		allowed = append(allowed, http.MethodHead)
	}
	allow := strings.Join(append(allowed, http.MethodOptions), ", ")
	t.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		if t.o.Before != nil {
			t.o.Before(w, r, allow)
		}
		h := methods[r.Method]
		if r.Method == http.MethodHead {
			h = methods[http.MethodGet]
		}
		if h != nil {
			if err := h(w, r); err != nil {
				t.o.Fail(w, r, pattern, err)
			}
			return
		}
		w.Header().Set("Allow", allow)
		if r.Method == http.MethodOptions {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		t.o.Fail(w, r, pattern, &MethodError{r.Method, allow})
	})
}

// Mount gives a path to another handler, methods and errors included.
func (t *Router) Mount(pattern string, h http.Handler) { t.mux.Handle(pattern, h) }

// ServeHTTP answers one request.
func (t *Router) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		if p == http.ErrAbortHandler { //nolint:errorlint // net/http compares it so
			panic(p)
		}
		t.o.Log.Error("a request handler panicked; please report this", "path", r.URL.Path, "panic", p,
			"stack", string(debug.Stack()))
		t.o.Fail(w, r, "panic", errors.New("the handler panicked"))
	}()
	t.mux.ServeHTTP(w, withoutTrailingSlash(r))
}

// Clean lets //cameras and /./cameras mean /cameras for a handler, where net/http's ServeMux would
// redirect, in HTML.
func Clean(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		was := r.URL.EscapedPath()
		is := path.Clean("/" + was)
		if strings.HasSuffix(was, "/") && is != "/" {
			is += "/"
		}
		if u := *r.URL; is != was {
			u.RawPath = is
			u.Path, _ = url.PathUnescape(is) // parts of what was unescaped before
			r2 := *r
			r2.URL = &u
			r = &r2
		}
		h.ServeHTTP(w, r)
	})
}

// withoutTrailingSlash lets /cameras/ mean /cameras, as the public service does.
func withoutTrailingSlash(r *http.Request) *http.Request {
	trimmed := strings.TrimRight(r.URL.Path, "/")
	if trimmed == "" || trimmed == r.URL.Path {
		return r
	}
	u := *r.URL
	u.Path, u.RawPath = trimmed, strings.TrimRight(u.RawPath, "/")
	r2 := *r
	r2.URL = &u
	return &r2
}
