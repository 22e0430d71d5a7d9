package client

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/vms"
)

// cable leads each new connection to a place, until it is cut: then those that stand carry nothing
// more, in either way, and nobody is told, as where a router forgets them.
type cable struct {
	net.Listener
	to   atomic.Pointer[string]
	made atomic.Int32
	wg   sync.WaitGroup
	mu   sync.Mutex
	cut  chan struct{} // of the connections that stand; guarded by mu
	all  []net.Conn    // guarded by mu
}

func newCable(t *testing.T, to string) *cable {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	c := &cable{Listener: l, cut: make(chan struct{})}
	c.to.Store(&to)
	c.wg.Go(func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", *c.to.Load())
			if err != nil {
				_ = near.Close()
				continue
			}
			c.made.Add(1)
			c.mu.Lock()
			c.all = append(c.all, near, far)
			cut := c.cut
			c.mu.Unlock()
			c.wg.Go(func() { carry(near, far, cut) })
			c.wg.Go(func() { carry(far, near, cut) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		c.lose()
		c.mu.Lock()
		for _, conn := range c.all {
			_ = conn.Close()
		}
		c.mu.Unlock()
		c.wg.Wait()
	})
	return c
}

// carry copies until the cable is cut or an end closes.
func carry(to, from net.Conn, cut chan struct{}) {
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		select {
		case <-cut:
			return // and both stay open
		default:
		}
		if err != nil {
			_ = to.Close()
			return
		}
		if _, err := to.Write(b[:n]); err != nil {
			_ = from.Close()
			return
		}
	}
}

// lose cuts what stands.
func (c *cable) lose() {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.cut)
	c.cut = make(chan struct{})
}

// A connection that is dead without either end having been told costs the requests on it, and no
// more: the next ones make another. With HTTP/2 all share one connection, and one request that
// comes to nothing does not end it.
func TestDeadConnection(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		t.Run(fmt.Sprint("http2=", http2), func(t *testing.T) {
			var version atomic.Int32
			s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				version.Store(int32(r.ProtoMajor))
				w.WriteHeader(201)
				_, _ = io.WriteString(w, stored(nil))
			}))
			s.EnableHTTP2, s.Config.ErrorLog = http2, log.New(io.Discard, "", 0)
			s.StartTLS()
			defer s.Close()
			way := newCable(t, s.Listener.Addr().String())
			sum := sha256.Sum256(s.Certificate().Raw)
			c := newClient(t,
				Options{BaseURL: "https://" + way.Addr().String(), Fingerprint: hex.EncodeToString(sum[:]),
					Timeout: 600 * time.Millisecond})
			// On a busy machine a request may come to nothing without any fault.
			taken := func() bool { return c.Report(t.Context(), event()) == nil }
			require.Eventually(t, taken, time.Minute, time.Millisecond)
			require.Equal(t, http2, version.Load() == 2)
			for range 2 {
				before := way.made.Load()
				way.lose()
				require.Eventually(t, taken, time.Minute, time.Millisecond)
				require.Greater(t, way.made.Load(), before)
			}
		})
	}
}

// The name leads to another machine now, and the one that it led to before still takes connections,
// but is no longer the service.
func TestConnectionToWhatWasTheService(t *testing.T) {
	s := answering(t, 201, "", stored(nil))
	page := answering(t, 404, "Content-Type: text/html", "<html>default site</html>")
	way := newCable(t, page.Listener.Addr().String())
	c := newClient(t, Options{BaseURL: "http://" + way.Addr().String()})
	require.Error(t, c.Report(t.Context(), event()))
	to := s.Listener.Addr().String()
	way.to.Store(&to)
	require.NoError(t, c.Report(t.Context(), event()), "it is asked on a connection of its own")
}

// A redirect within the host is followed as the request that it was, and a chain of them to no end.
func TestRedirectsWithinTheHost(t *testing.T) {
	var posts atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/api/v3.0/events":
			http.Redirect(w, r, "/v3/events/", http.StatusPermanentRedirect)
		case r.URL.Path == "/v3/events/":
			http.Redirect(w, r, "/v3/here", http.StatusTemporaryRedirect)
		case r.URL.Path == "/v3/here" && r.Method == http.MethodPost &&
			r.Header.Get("Authorization") == "Bearer "+secret && r.ContentLength > 100:
			posts.Add(1)
			w.WriteHeader(201)
			_, _ = io.WriteString(w, stored(nil))
		default:
			http.Redirect(w, r, r.URL.Path, http.StatusTemporaryRedirect)
		}
	}))
	defer s.Close()
	c := newClient(t, Options{BaseURL: s.URL})
	require.NoError(t, c.Report(t.Context(), event()))
	require.EqualValues(t, 1, posts.Load())
	_, err := c.User(t.Context())
	require.ErrorContains(t, err, "redirect")

	// A redirect that would make a question of the report is not followed.
	seen := answering(t, 302, "Location: /elsewhere", "")
	require.ErrorContains(t, newClient(t, Options{BaseURL: seen.URL}).Report(t.Context(), event()), "redirect")
}

// The address of a proxy that cannot be one is an error, not a way around it, and keeps its
// password to itself.
func TestProxyThatCannotBeOne(t *testing.T) {
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
		"REQUEST_METHOD"} {
		t.Setenv(name, "")
	}
	for _, address := range []string{"http://user:hush%zz@proxy.example:3128", "ftp://user:hush@proxy.example",
		"http://user:hush@[::1", "http://", "user:hush@a b"} {
		for _, variable := range []string{"HTTP_PROXY", "HTTPS_PROXY"} {
			t.Setenv(variable, address)
			_, err := New(Options{BaseURL: "https://service.test", Token: Token(secret)})
			require.ErrorContains(t, err, variable, address)
			require.NotContains(t, err.Error(), "hush")
			t.Setenv(variable, "")
		}
	}
	for _, address := range []string{"proxy.example:3128", "proxy.example", "http://proxy.example",
		"https://user:p@proxy.example:443/", "socks5://127.0.0.1:1080", "10.0.0.1:3128", "[::1]:3128"} {
		t.Setenv("HTTPS_PROXY", address)
		_, err := New(Options{BaseURL: "https://service.test", Token: Token(secret)})
		require.NoError(t, err, address)
	}
}

// A registration that a portal answered has not reached the service: the events after it would be
// of unknown cameras.
func TestRegistrationThatAPortalAnswers(t *testing.T) {
	const json, html = "Content-Type: application/json", "Content-Type: text/html"
	for name, c := range map[string]struct {
		code         int
		header, body string
		good         bool
	}{
		"the service":           {200, json, `{"id":"b","name":"","cameras":[],"reportAtOnce":7}`, true},
		"of another make":       {201, json, `{"status":"ok"}`, true},
		"nothing, said so":      {204, "", "", true},
		"a page":                {200, html, "<html>Welcome</html>", false},
		"a page, 201":           {201, html, "<html>Welcome</html>", false},
		"nothing":               {200, json, "", false},
		"half of it":            {200, json, `{"id":"b"`, false},
		"an error all the same": {200, json, `{"error":"sign in"}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := answering(t, c.code, c.header, c.body)
			err := newClient(t, Options{BaseURL: s.URL}).Register(t.Context(), vms.Registration{ID: "b"})
			if c.good {
				require.NoError(t, err)
				return
			}
			var transient *vms.TransientError
			require.ErrorAs(t, err, &transient)
			require.NotContains(t, err.Error(), "Welcome")
		})
	}
}
