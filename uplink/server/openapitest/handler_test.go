package openapitest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A program's own answers are looked at, whoever asks; what takes the connection over, and what is
// no answer of the interface, passes as it is.
func TestAProgramHoldsItsOwnAnswers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "wrong")
	answers := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == pathDocument:
			_, _ = io.WriteString(w, document)
		case r.URL.Query().Has("takes"):
			conn, rest, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = rest.WriteString("HTTP/1.1 101 Switching Protocols\r\nConnection: close\r\n\r\n")
			_ = rest.Flush()
			_ = conn.Close()
		default:
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, r.URL.Query().Get("q"))
			if err := http.NewResponseController(w).Flush(); err != nil {
				t.Error(err)
			}
		}
	})
	require.HTTPSuccess(t, Handler(answers).ServeHTTP, "GET", "/api/v3.0/cameras", nil)
	require.NoFileExists(t, path, "without the variable nothing is looked at")
	t.Setenv(toldTo, path)
	s := httptest.NewServer(Handler(answers))
	defer s.Close()
	for _, query := range []string{`/api/v3.0/cameras?q={"results":[]}`, "/api/v3.0/cameras?takes=1", "/g/user?q={}",
		`/api/v3.0/cameras?q={"resulted":[]}`} {
		require.NoFileExists(t, path)
		r, err := http.NewRequestWithContext(t.Context(), "GET", s.URL+query, nil)
		require.NoError(t, err)
		res, err := http.DefaultTransport.RoundTrip(r)
		require.NoError(t, err)
		raw, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		_, want, _ := strings.Cut(query, "q=")
		require.Equal(t, want, string(raw))
	}
	s.Close() // which waits for what comes behind an answer
	wrong, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(wrong), `property "results" is missing`)
	require.Equal(t, 1, strings.Count(string(wrong), "\n"))
	held, err := os.ReadFile(path + ".held")
	require.NoError(t, err)
	require.Equal(t, "..", string(held))
}
