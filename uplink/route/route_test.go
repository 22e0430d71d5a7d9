package route_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/route"
)

func say(text string) route.Handler {
	return func(w http.ResponseWriter, _ *http.Request) error {
		_, err := io.WriteString(w, text)
		return err
	}
}

func newServer(t *testing.T) *httptest.Server {
	r := route.New(route.Options{
		Before: func(w http.ResponseWriter, _ *http.Request, allow string) { w.Header().Set("X-Allow", allow) },
		Fail: func(w http.ResponseWriter, _ *http.Request, pattern string, err error) {
			code := http.StatusInternalServerError
			switch m := (*route.MethodError)(nil); {
			case errors.Is(err, route.ErrNotFound):
				code = http.StatusNotFound
			case errors.As(err, &m):
				code = http.StatusMethodNotAllowed
			}
			http.Error(w, pattern+": "+err.Error(), code)
		},
	})
	r.Handle("/a/{id}", route.Methods{"GET": say("got"), "DELETE": say("deleted")})
	r.Handle("/b", route.Methods{
		"POST": func(http.ResponseWriter, *http.Request) error { return errors.New("no") },
		"PUT":  func(http.ResponseWriter, *http.Request) error { panic("ouch") },
	})
	s := httptest.NewServer(r)
	t.Cleanup(s.Close)
	return s
}

// TestRouter: each path answers by its methods.
func TestRouter(t *testing.T) {
	s := newServer(t)
	for _, c := range []struct {
		method, path string
		code         int
		body, allow  string
	}{
		{"GET", "/a/1", 200, "got", ""},
		{"GET", "/a/1/", 200, "got", ""},
		{"GET", "/a/x%2Fy//", 200, "got", ""},
		{"HEAD", "/a/1", 200, "", ""},
		{"DELETE", "/a/1", 200, "deleted", ""},
		{"OPTIONS", "/a/1", 204, "", "DELETE, GET, HEAD, OPTIONS"},
		{"PUT", "/a/1", 405, "/a/{id}: the method PUT is not supported here, only DELETE, GET, HEAD, OPTIONS\n",
			"DELETE, GET, HEAD, OPTIONS"},
		{"HEAD", "/b", 405, "", "POST, PUT, OPTIONS"},
		{"POST", "/b", 500, "/b: no\n", ""},
		{"PUT", "/b", 500, "panic: the handler panicked\n", ""},
		{"GET", "/", 404, ": there is nothing at this path\n", ""},
		{"GET", "/a/1/2", 404, ": there is nothing at this path\n", ""},
	} {
		t.Run(c.method+" "+c.path, func(t *testing.T) {
			r, err := http.NewRequestWithContext(t.Context(), c.method, s.URL+c.path, nil)
			require.NoError(t, err)
			res, err := http.DefaultClient.Do(r)
			require.NoError(t, err)
			defer res.Body.Close()
			body, err := io.ReadAll(res.Body)
			require.NoError(t, err)
			require.Equal(t, c.code, res.StatusCode)
			require.Equal(t, c.body, string(body))
			require.Equal(t, c.allow, res.Header.Get("Allow"))
			require.Equal(t, c.code == 404, res.Header.Get("X-Allow") == "")
		})
	}
}

// TestAbort: a handler that gives up its connection is no fault.
func TestAbort(t *testing.T) {
	r := route.New(route.Options{Fail: func(http.ResponseWriter, *http.Request, string, error) { t.Error("answered") }})
	r.Handle("/a", route.Methods{"POST": func(http.ResponseWriter,
		*http.Request) error {
		panic(http.ErrAbortHandler)
	}})
	require.PanicsWithValue(t, http.ErrAbortHandler, func() {
		r.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("POST", "/a", nil))
	})
}

// TestClean: what net/http's ServeMux would redirect is answered.
func TestClean(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.Method+" "+r.URL.Path+" "+r.URL.EscapedPath())
	})
	for target, want := range map[string]string{
		"/a/b":            "/a/b /a/b",
		"//a//b":          "/a/b /a/b",
		"/a/./b/../c/":    "/a/c/ /a/c/",
		"/../a":           "/a /a",
		"//":              "/ /",
		"//a/x%2F%2Fy%2B": "/a/x//y+ /a/x%2F%2Fy%2B",
		"/a/x%2Fy":        "/a/x/y /a/x%2Fy",
	} {
		w := httptest.NewRecorder()
		route.Clean(mux).ServeHTTP(w, httptest.NewRequest("POST", "http://h"+target, nil))
		require.Equal(t, 200, w.Code, target)
		require.Equal(t, "POST "+want, w.Body.String(), target)
	}
}
