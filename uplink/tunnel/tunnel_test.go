package tunnel

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// service is the service's end on a real socket: it lets in bridges whose token is "token-ID".
type service struct {
	*httptest.Server
	hub    *Hub
	status atomic.Int32 // answered instead of opening a tunnel, 0 for none
	asked  atomic.Int32
	told   Told
	end    atomic.Pointer[context.CancelCauseFunc] // ends the last tunnel's request
}

func newService(t *testing.T, keepAlive time.Duration) *service {
	s := &service{hub: NewHub(keepAlive, nil)}
	mux := http.NewServeMux()
	mux.HandleFunc(Path, func(w http.ResponseWriter, r *http.Request) {
		s.asked.Add(1)
		if code := s.status.Load(); code != 0 {
			w.WriteHeader(int(code))
			return
		}
		id, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer token-")
		if !ok {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		ctx, end := context.WithCancelCause(r.Context())
		s.end.Store(&end)
		s.hub.Serve(w, r.WithContext(ctx), id, s.told)
	})
	s.Server = httptest.NewServer(mux)
	t.Cleanup(func() { require.NoError(t, s.hub.Close()); s.Server.Close() })
	return s
}

// dial runs a bridge's end until the test ends or cancel is called.
func dial(t *testing.T, o Options) (d *Dialer, cancel func()) {
	client := &http.Client{Transport: &http.Transport{}}
	if o.HTTP == nil {
		o.HTTP = client
	}
	if o.MinPause == 0 {
		o.MinPause, o.MaxPause = 10*time.Millisecond, 50*time.Millisecond
	}
	d, err := New(o)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { require.ErrorIs(t, d.Run(ctx), context.Canceled) })
	cancel = sync.OnceFunc(func() { stop(); wg.Wait(); o.HTTP.CloseIdleConnections() })
	t.Cleanup(cancel)
	return d, cancel
}

func token(id string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return "token-" + id, nil }
}

// get asks a bridge once its tunnel stands.
func get(t *testing.T, hub *Hub, bridge, path string) (int, string) {
	t.Helper()
	res, err := (&http.Client{Transport: waitFor(t, hub, bridge)}).Get("http://bridge" + path)
	require.NoError(t, err)
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	return res.StatusCode, string(body)
}

// answers is what a bridge answers, "" if it does not.
func answers(hub *Hub, bridge, path string) string {
	transport, ok := hub.Transport(bridge)
	if !ok {
		return ""
	}
	res, err := (&http.Client{Transport: transport}).Get("http://bridge" + path)
	if err != nil {
		return ""
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return ""
	}
	return string(body)
}

func waitFor(t *testing.T, hub *Hub, bridge string) (rt http.RoundTripper) {
	t.Helper()
	require.Eventually(t, func() (ok bool) {
		rt, ok = hub.Transport(bridge)
		return ok
	}, time.Minute, 5*time.Millisecond)
	return rt
}

func echo(name string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, name+r.URL.Path) })
}

func TestAsksTheRightBridge(t *testing.T) {
	s := newService(t, 0)
	dial(t, Options{URL: s.URL, Bridge: "b", Token: token("a"), Handler: echo("a")})
	dial(t, Options{URL: s.URL + "/", Bridge: "b", Token: token("b"), Handler: echo("b")})
	code, body := get(t, s.hub, "a", "/x")
	require.Equal(t, http.StatusOK, code)
	require.Equal(t, "a/x", body)
	_, body = get(t, s.hub, "b", "/y")
	require.Equal(t, "b/y", body)
	_, ok := s.hub.Transport("c")
	require.False(t, ok)
	require.Equal(t, 2, s.hub.Up())
}

// Many large answers at once, one of them to a reader that does not read, arrive whole.
func TestASlowReaderDoesNotHoldUpTheOthers(t *testing.T) {
	s := newService(t, 0)
	large := strings.Repeat("0123456789abcdef", 1<<15) // 512 KiB, twice what yamux holds for a reader
	dial(t, Options{URL: s.URL, Bridge: "b", Token: token("a"), MaxRequests: 16,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, large)
		})})
	client := &http.Client{Transport: waitFor(t, s.hub, "a")}
	slow, err := client.Get("http://bridge/slow")
	require.NoError(t, err)
	defer func() { require.NoError(t, slow.Body.Close()) }()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			res, err := client.Get("http://bridge/fast")
			if err != nil {
				t.Error(err)
				return
			}
			body, err := io.ReadAll(res.Body)
			if err != nil || string(body) != large {
				t.Errorf("%d bytes came, error %v", len(body), err)
			}
			_ = res.Body.Close()
		})
	}
	wg.Wait()
	body, err := io.ReadAll(slow.Body)
	require.NoError(t, err)
	require.Len(t, body, len(large))
}

func TestBoundsTheRequestsAtATime(t *testing.T) {
	s := newService(t, 0)
	hold, in := make(chan struct{}), make(chan struct{})
	dial(t, Options{URL: s.URL, Bridge: "b", Token: token("a"), MaxRequests: 1,
		Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			in <- struct{}{}
			<-hold
		})})
	client := &http.Client{Transport: waitFor(t, s.hub, "a")}
	done := make(chan error, 1)
	go func() {
		res, err := client.Get("http://bridge/")
		if err == nil {
			err = res.Body.Close()
		}
		done <- err
	}()
	<-in
	code, _ := get(t, s.hub, "a", "/")
	require.Equal(t, http.StatusServiceUnavailable, code)
	close(hold)
	require.NoError(t, <-done)
}

func TestDialsAgainAfterTheServiceWasAway(t *testing.T) {
	s := newService(t, 0)
	s.status.Store(http.StatusBadGateway)
	d, _ := dial(t, Options{URL: s.URL, Bridge: "b", Token: token("a"), Handler: echo("a")})
	require.Eventually(t, func() bool { return s.asked.Load() >= 3 }, time.Minute, time.Millisecond)
	require.False(t, d.Up())
	var status *StatusError
	require.ErrorAs(t, d.Trouble(), &status)
	require.Equal(t, http.StatusBadGateway, status.Code)
	require.False(t, status.Unsupported())
	s.status.Store(0)
	get(t, s.hub, "a", "/")
	require.True(t, d.Up())
	require.NoError(t, d.Trouble())
	old := waitFor(t, s.hub, "a")
	s.hub.Drop("a")
	require.Eventually(t, func() bool {
		rt, ok := s.hub.Transport("a")
		return ok && rt != old
	}, time.Minute, time.Millisecond)
	_, body := get(t, s.hub, "a", "/again")
	require.Equal(t, "a/again", body)
	_, err := (&http.Client{Transport: old}).Get("http://bridge/") //nolint:bodyclose // there is none
	require.Error(t, err, "the old tunnel is gone")
}

// A revoked token does not stop the bridge from asking again with the one that it has by then.
func TestATokenIsReadForEachDial(t *testing.T) {
	s := newService(t, 0)
	var good atomic.Bool
	dial(t, Options{URL: s.URL, Bridge: "b", Handler: echo("a"), Token: func(context.Context) (string, error) {
		if good.Load() {
			return "token-a", nil
		}
		return "revoked", nil
	}})
	require.Eventually(t, func() bool { return s.asked.Load() >= 2 }, time.Minute, time.Millisecond)
	good.Store(true)
	get(t, s.hub, "a", "/")
}

func TestANewTunnelReplacesTheOldOne(t *testing.T) {
	s := newService(t, 0)
	_, stop := dial(t, Options{URL: s.URL, Bridge: "b", Token: token("a"), Handler: echo("first")})
	get(t, s.hub, "a", "/")
	stop()
	dial(t, Options{URL: s.URL, Bridge: "b", Token: token("a"), Handler: echo("second")})
	require.Eventually(t, func() bool { return answers(s.hub, "a", "/") == "second/" }, time.Minute, time.Millisecond)
}

// A tunnel whose request ends for a reason takes nothing new, but what is under way in it is
// answered; one that is just cut off is gone.
func TestRequestsEndBeforeTheirTunnel(t *testing.T) {
	for _, c := range []struct {
		reason   error
		answered bool
	}{{errors.New("the service stops"), true}, {nil, false}} {
		s := newService(t, 0)
		s.hub.endPatience = time.Minute
		asked, goOn := make(chan struct{}), make(chan struct{})
		_, stop := dial(t, Options{URL: s.URL, Bridge: "a", Token: token("a"), MinPause: time.Hour, MaxPause: time.Hour,
			Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				close(asked)
				select {
				case <-goOn:
				case <-r.Context().Done():
				}
			})})
		answer := make(chan error, 1)
		bridge := &http.Client{Transport: waitFor(t, s.hub, "a")}
		go func() {
			res, err := bridge.Get("http://bridge/slow")
			if err == nil {
				_ = res.Body.Close()
			}
			answer <- err
		}()
		<-asked
		(*s.end.Load())(c.reason)
		require.Eventually(t, func() bool { return !s.hub.Stands("a") }, time.Minute, time.Millisecond)
		if c.answered {
			close(goOn)
			require.NoError(t, <-answer)
		} else {
			require.Error(t, <-answer)
		}
		require.Eventually(t, func() bool { return s.hub.Up() == 0 }, time.Minute, time.Millisecond)
		stop()
	}
}

// A network that swallows everything, without a word of TCP, is noticed at both ends by the pings.
func TestASilentNetworkIsNoticed(t *testing.T) {
	s := newService(t, 400*time.Millisecond)
	last := make(chan time.Time, 9)
	var stood sync.WaitGroup
	stood.Add(1)
	s.told = Told{Stands: sync.OnceFunc(stood.Done), Ended: func(at time.Time) { last <- at }}
	hole := newHole(t, s.Listener.Addr().String(), 0, 0)
	d, _ := dial(t, Options{URL: "http://" + hole.Addr().String(), Bridge: "b", Token: token("a"), Handler: echo("a"),
		KeepAlive: 400 * time.Millisecond})
	waitFor(t, s.hub, "a")
	stood.Wait()
	swallowed := time.Now()
	hole.swallow.Store(true)
	require.Eventually(t, func() bool {
		_, ok := s.hub.Transport("a")
		return !ok && !d.Up()
	}, time.Minute, 5*time.Millisecond)
	require.Less(t, (<-last).Sub(swallowed), 200*time.Millisecond,
		"it was last heard of before the silence, not when that was noticed")
	hole.swallow.Store(false)
	hole.reset()
	require.Eventually(t, func() bool {
		return answers(s.hub, "a", "/back") == "a/back"
	}, time.Minute, 5*time.Millisecond)
}

// An idle tunnel costs little: one ping in each keepalive, by the service, and its answer.
func TestWhatAnIdleTunnelCosts(t *testing.T) {
	s := newService(t, 200*time.Millisecond)
	hole := newHole(t, s.Listener.Addr().String(), 0, 0)
	dial(t, Options{URL: "http://" + hole.Addr().String(), Bridge: "b", Token: token("a"), Handler: echo("a")})
	waitFor(t, s.hub, "a")
	opened := hole.pieces.Load() // what ends the opening may still be on its way
	require.Eventually(t, func() bool { return hole.pieces.Load() >= opened+6 }, time.Minute, 5*time.Millisecond)
	began, before, bytes := time.Now(), hole.pieces.Load(), hole.bytes.Load()
	require.Eventually(t, func() bool { return hole.pieces.Load() >= before+20 }, time.Minute, 5*time.Millisecond)
	pings, span := float64(hole.pieces.Load()-before)/2, time.Since(began)
	t.Logf("%.0f pings in %v, %.0f bytes each with the answer", pings, span, float64(hole.bytes.Load()-bytes)/pings)
	require.GreaterOrEqual(t, span, 9*200*time.Millisecond, "no more than one in a keepalive")
	require.LessOrEqual(t, float64(hole.bytes.Load()-bytes)/pings, 40.0)
}

// A service that does not say how long it is silent gives a sign each ten seconds.
func TestAServiceThatDoesNotSayItsKeepalive(t *testing.T) {
	d, err := New(Options{URL: "http://h", Bridge: "b", Token: token("a"), Handler: echo("a")})
	require.NoError(t, err)
	for said, want := range map[string]time.Duration{"": 20 * time.Second, "x": 20 * time.Second,
		"3500":     3500 * time.Millisecond,
		"99999999": 20 * time.Second, "-1": 20 * time.Second} {
		require.Equal(t, want*9/8, d.keepAlive(http.Header{HeaderKeepAlive: {said}}), said)
	}
}

// A link on which what waits takes far longer than the peer may be silent breaks neither the tunnel
// nor an answer, whether it waits in the network or at the bridge.
func TestASlowLinkIsNotADeadOne(t *testing.T) {
	large := strings.Repeat("0123456789abcdef", 1<<14) // 256 KiB
	for name, room := range map[string]int{"in the network": 0, "at the bridge": 32 << 10} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, time.Second)
			hole := newHole(t, s.Listener.Addr().String(), 8*time.Millisecond, room)
			way := &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				c, err := (&net.Dialer{}).DialContext(ctx, network, address)
				if err == nil && room > 0 {
					err = c.(*net.TCPConn).SetWriteBuffer(room)
				}
				return c, err
			}}
			dial(t, Options{URL: "http://" + hole.Addr().String(), Bridge: "b", Token: token("a"),
				KeepAlive: time.Second, HTTP: &http.Client{Transport: way},
				Handler: http.HandlerFunc(func(w http.ResponseWriter,
					_ *http.Request) {
					_, _ = io.WriteString(w, large)
				})})
			client := &http.Client{Transport: waitFor(t, s.hub, "a")}
			var wg sync.WaitGroup
			for range 5 {
				wg.Go(func() {
					res, err := client.Get("http://bridge/")
					if err != nil {
						t.Error(err)
						return
					}
					defer func() { _ = res.Body.Close() }()
					body, err := io.ReadAll(res.Body)
					if err != nil || string(body) != large {
						t.Errorf("%d bytes came, error %v", len(body), err)
					}
				})
			}
			wg.Wait()
		})
	}
}

// hole forwards connections, and while swallow is set forwards nothing and closes nothing. What
// goes in is slow if pace is set.
type hole struct {
	net.Listener
	swallow atomic.Bool
	pace    time.Duration // for 4 KiB
	pieces  atomic.Int64  // that went through, and their bytes
	bytes   atomic.Int64

	mu    sync.Mutex // guards conns
	conns []net.Conn
}

// reset ends all connections.
func (h *hole) reset() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range h.conns {
		_ = c.Close()
	}
}

// newHole makes one that holds up to room bytes itself, 0 for as many as the kernel likes.
func newHole(t *testing.T, to string, pace time.Duration, room int) *hole {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	h := &hole{Listener: l, pace: pace}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	t.Cleanup(func() { cancel(); _ = l.Close(); h.reset(); wg.Wait() })
	wg.Go(func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			if room > 0 {
				_ = in.(*net.TCPConn).SetReadBuffer(room)
			}
			out, err := net.Dial("tcp", to)
			if err != nil {
				_ = in.Close()
				continue
			}
			h.mu.Lock()
			h.conns = append(h.conns, in, out)
			h.mu.Unlock()
			wg.Go(func() { h.copy(ctx, out, in, h.pace) })
			wg.Go(func() { h.copy(ctx, in, out, 0) })
		}
	})
	return h
}

func (h *hole) copy(ctx context.Context, to, from net.Conn, pace time.Duration) {
	buffer := make([]byte, 4<<10)
	for {
		sleep(ctx, pace)
		n, err := from.Read(buffer)
		if err != nil {
			if !h.swallow.Load() { // else nobody is told of the end either
				_ = to.Close()
			}
			return
		}
		if h.swallow.Load() {
			continue
		}
		h.pieces.Add(1)
		h.bytes.Add(int64(n))
		if _, err := to.Write(buffer[:n]); err != nil {
			_ = from.Close()
			return
		}
	}
}

func TestRefusalsSayWhatToDo(t *testing.T) {
	for code, want := range map[int]string{401: "token_file", 403: "bridge's own", 409: "registered",
		404: "takes no tunnels", 200: "200", 503: "503"} {
		s := newService(t, 0)
		s.status.Store(int32(code))
		lines := &lines{}
		_, stop := dial(t, Options{URL: s.URL, Bridge: "b", Token: token("secret"), Handler: echo("a"),
			Log: slog.New(slog.NewTextHandler(lines, nil))})
		require.Eventually(t, func() bool {
			return strings.Contains(lines.String(), want)
		}, time.Minute, time.Millisecond, "%d", code)
		if code != 404 {
			n := s.asked.Load()
			require.Eventually(t, func() bool { return s.asked.Load() > n+2 }, time.Minute, time.Millisecond)
		}
		stop()
		require.Equal(t, 1, strings.Count(lines.String(), "level=WARN"), "said once: %s", lines)
		require.NotContains(t, lines.String(), "token-secret")
	}
}

type lines struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// Who opens a WebSocket without speaking the tunnel's language is turned away, and who sends noise
// is let go.
func TestForeignPeers(t *testing.T) {
	s := newService(t, 0)
	c, err := net.Dial("tcp", s.Listener.Addr().String())
	require.NoError(t, err)
	defer func() { _ = c.Close() }()
	_, err = io.WriteString(c, "GET "+Path+
		" HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer token-a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: "+
		Subprotocol+"\r\n\r\n\x82\x8cabcdnoise noise!")
	require.NoError(t, err)
	require.NoError(t, c.SetReadDeadline(time.Now().Add(time.Minute)))
	_, err = io.ReadAll(c)
	require.NoError(t, err, "the connection is closed")
	require.Eventually(t, func() bool { return s.hub.Up() == 0 }, time.Minute, time.Millisecond)
	res, err := http.Get(s.URL + Path)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	http.DefaultClient.CloseIdleConnections()
	require.Equal(t, http.StatusUnauthorized, res.StatusCode)
}

func TestNewRefusesWhatCannotWork(t *testing.T) {
	for _, o := range []Options{{}, {URL: "ftp://x", Bridge: "b", Token: token("a"), Handler: echo("")},
		{URL: "http://x", Bridge: "b", Handler: echo("")},
		{URL: "http://x", Bridge: "b", Token: token("a")}, {URL: "http://x", Token: token("a"), Handler: echo("")}} {
		_, err := New(o)
		require.Error(t, err)
	}
}
