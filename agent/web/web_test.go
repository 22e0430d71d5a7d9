package web

import (
	"compress/gzip"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func ask(of Side, method, target string, header ...string) *httptest.ResponseRecorder {
	w, r := httptest.NewRecorder(), httptest.NewRequest(method, target, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	Handler(of).ServeHTTP(w, r)
	return w
}

func TestThePageAndNothingElse(t *testing.T) {
	for _, of := range []Side{Bridge, Service} {
		t.Run(string(of), func(t *testing.T) { servesItself(t, of) })
	}
	require.Equal(t, 200, ask(Bridge, http.MethodGet, "/setup.js").Code)
	require.Equal(t, 404, ask(Service, http.MethodGet, "/setup.js").Code, "the other side's")
	require.Equal(t, 404, ask(Bridge, http.MethodGet, "/people.js").Code, "the other side's")
}

func servesItself(t *testing.T, of Side) {
	for target, kind := range map[string]string{"/": "text/html", "/page.js": "text/javascript",
		"/api.js": "text/javascript", "/side.js": "text/javascript",
		"/page.css": "text/css", "/icon.svg": "image/svg+xml"} {
		w := ask(of, http.MethodGet, target)
		require.Equal(t, 200, w.Code, target)
		require.True(t, strings.HasPrefix(w.Header().Get("Content-Type"), kind), "%s: %s", target, w.Header())
		require.Contains(t, w.Header().Get("Content-Security-Policy"), "default-src 'none'")
		require.NotContains(t, w.Header().Get("Content-Security-Policy"), "unsafe")
		plain := w.Body.String()
		require.NotEmpty(t, plain)
		require.NotContains(t, plain, "<!--views-->")
		require.Equal(t, 304, ask(of, http.MethodGet, target, "If-None-Match", w.Header().Get("ETag")).Code, target)

		packed := ask(of, http.MethodGet, target, "Accept-Encoding", "gzip, br")
		require.Equal(t, "gzip", packed.Header().Get("Content-Encoding"))
		require.NotEqual(t, w.Header().Get("ETag"), packed.Header().Get("ETag"), "two representations, two tags")
		z, err := gzip.NewReader(packed.Body)
		require.NoError(t, err)
		unpacked, err := io.ReadAll(z)
		require.NoError(t, err)
		require.Equal(t, plain, string(unpacked))
		require.Equal(t, 405, ask(of, http.MethodPost, target).Code, target)

		tag := w.Header().Get("ETag")
		for _, lines := range [][]string{{"*"}, {`"none", ` + tag}, {"W/" + tag}, {`"none"`, `W/"more", ` + tag}} {
			var header []string
			for _, line := range lines {
				header = append(header, "If-None-Match", line)
			}
			require.Equal(t, 304, ask(of, http.MethodGet, target, header...).Code, "%s: %q", target, lines)
		}
		require.Equal(t, 200, ask(of, http.MethodGet, target, "If-None-Match", `"none"`).Code, target)
		refused := ask(of, http.MethodGet, target, "Accept-Encoding", "br, gzip;q=0")
		require.Empty(t, refused.Header().Get("Content-Encoding"), target)
		later := ask(of, http.MethodGet, target, "Accept-Encoding", "br", "Accept-Encoding", "gzip")
		require.Equal(t, "gzip", later.Header().Get("Content-Encoding"), target)
	}
	for _, target := range []string{"/index.html", "/page", "/files/", "/web.go", "/../web.go",
		"/favicon.ico", "/views.html", "/bridge/side.js", "/service/side.js"} {
		require.Equal(t, 404, ask(of, http.MethodGet, target).Code, target)
	}
}

// A site without internet has the whole page, and the policy forbids what it does not hold to.
func TestNothingComesFromElsewhere(t *testing.T) {
	foreign := regexp.MustCompile(`https?://|//[a-z]+\.[a-z]|@import|innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|\sstyle=|\son[a-z]+="`)
	weight, n := 0, 0
	require.NoError(t, fs.WalkDir(files, "files", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		content, err := files.ReadFile(path)
		text := strings.NewReplacer("http://www.w3.org/2000/svg", "").Replace(string(content)) // a name, no address
		require.NotRegexp(t, foreign, text, path)
		weight, n = weight+len(content), n+1
		return err
	}))
	require.Greater(t, n, 10)
	require.Less(t, weight, 250_000)
}
