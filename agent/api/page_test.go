package api

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestThePageAndNothingElse(t *testing.T) {
	h := page()
	for target, kind := range map[string]string{"/": "text/html", "/page.js": "text/javascript", "/page.css": "text/css"} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, target, nil))
		require.Equal(t, 200, w.Code, target)
		require.True(t, strings.HasPrefix(w.Header().Get("Content-Type"), kind), target)
		require.Contains(t, w.Header().Get("Content-Security-Policy"), "default-src 'none'")
		require.NotEmpty(t, w.Body.Bytes())

		again := httptest.NewRequest(http.MethodGet, target, nil)
		again.Header.Set("If-None-Match", w.Header().Get("ETag"))
		w = httptest.NewRecorder()
		h.ServeHTTP(w, again)
		require.Equal(t, 304, w.Code, target)

		w = httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, target, nil))
		require.Equal(t, 405, w.Code, target)
	}
	for _, target := range []string{"/index.html", "/page", "/page/", "/web.go", "/../web.go", "/favicon.ico"} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, target, nil))
		require.Equal(t, 404, w.Code, target)
	}
}

// A site without internet has the whole page, and the policy forbids what it does not hold to.
func TestNothingComesFromElsewhere(t *testing.T) {
	for _, name := range []string{"page/index.html", "page/page.js", "page/page.css"} {
		content, err := pageFiles.ReadFile(name)
		require.NoError(t, err)
		require.NotRegexp(t,
			regexp.MustCompile(
				`https?://|//[a-z]+\.[a-z]|@import|innerHTML|insertAdjacentHTML|document\.write|\beval\(|\sstyle=|\son[a-z]+="`), string(content), name)
	}
}
