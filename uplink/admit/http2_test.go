package admit

import (
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// twin is a server of HTTP/2 behind a Listener, whose connections are counted when they are freed.
type twin struct {
	*httptest.Server
	freed   atomic.Int64
	begun   atomic.Int64
	release chan struct{}
}

type counting struct {
	net.Listener
	freed *atomic.Int64
}

type counted struct{ net.Conn }

func (l counting) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	own := &counted{c}
	runtime.AddCleanup(own, func(n *atomic.Int64) { n.Add(1) }, l.freed)
	return own, nil
}

func newTwin(t *testing.T, idle time.Duration) *twin {
	t.Helper()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	w := &twin{release: make(chan struct{})}
	l := New(counting{inner, &w.freed}, Options{Total: 256, PerAddress: 256})
	w.Server = httptest.NewUnstartedServer(Bodies(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		w.begun.Add(1)
		if r.URL.Path == "/hold" {
			select {
			case <-w.release:
			case <-r.Context().Done():
			}
		}
		_, _ = io.Copy(io.Discard, r.Body)
	})))
	require.NoError(t, w.Listener.Close())
	w.Listener, w.EnableHTTP2 = l, true
	w.Config.IdleTimeout, w.Config.ReadTimeout = idle, BodyTime
	w.Config.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: 4}
	l.Attach(w.Config)
	w.StartTLS()
	t.Cleanup(w.Close)
	return w
}

// visitor is a client that sends what it likes. It reads what comes.
type visitor struct {
	t   *testing.T
	c   *tls.Conn
	out bytes.Buffer
	fr  *http2.Framer
	ids uint32
}

func (w *twin) visit(t *testing.T) *visitor {
	t.Helper()
	trust := w.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	trust.NextProtos = []string{"h2"}
	c, err := tls.Dial("tcp", w.Listener.Addr().String(), trust)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	v := &visitor{t: t, c: c}
	v.fr = http2.NewFramer(&v.out, c)
	v.out.WriteString(http2.ClientPreface)
	require.NoError(t, v.fr.WriteSettings())
	v.send()
	return v
}

func (v *visitor) send() {
	v.t.Helper()
	_, err := v.c.Write(v.out.Bytes())
	require.NoError(v.t, err)
	v.out.Reset()
}

// agree takes the server's limits for read.
func (v *visitor) agree() {
	v.t.Helper()
	f, err := v.fr.ReadFrame()
	require.NoError(v.t, err)
	require.IsType(v.t, &http2.SettingsFrame{}, f)
	require.NoError(v.t, v.fr.WriteSettingsAck())
	v.send()
}

// ask begins n requests, all at once, whose bodies do not come.
func (v *visitor) ask(n int, path string) {
	v.t.Helper()
	for range n {
		var head bytes.Buffer
		enc := hpack.NewEncoder(&head)
		for _, f := range []hpack.HeaderField{{Name: ":method", Value: "POST"}, {Name: ":scheme", Value: "https"},
			{Name: ":authority", Value: "x"}, {Name: ":path", Value: path}, {Name: "content-length", Value: "9"}} {
			require.NoError(v.t, enc.WriteField(f))
		}
		require.NoError(v.t, v.fr.WriteHeaders(http2.HeadersFrameParam{StreamID: 2*v.ids + 1,
			BlockFragment: head.Bytes(), EndHeaders: true}))
		v.ids++
	}
	v.send()
}

// cut says whether the connection ends before it was quiet for some time.
func (v *visitor) cut(quiet time.Duration) bool {
	for {
		_ = v.c.SetReadDeadline(time.Now().Add(quiet))
		if _, err := v.fr.ReadFrame(); err != nil {
			ne, ok := err.(net.Error) //nolint:errorlint // the framer hands it on as it is
			return !ok || !ne.Timeout()
		}
	}
}

// A connection that ends in the midst of requests is freed, not kept until IdleTimeout.
func TestEndedConnectionsAreFreed(t *testing.T) {
	w := newTwin(t, time.Hour)
	const all = 8
	for range all {
		v := w.visit(t)
		v.agree()
		v.ask(2, "/hold")
		begun := w.begun.Load()
		require.Eventually(t, func() bool { return w.begun.Load() >= begun }, 10*time.Second, time.Millisecond)
		require.NoError(t, v.c.NetConn().Close())
	}
	require.Eventually(t, func() bool { runtime.GC(); return w.freed.Load() >= all-1 }, 20*time.Second,
		10*time.Millisecond, "connections are still held")
}

// More requests than the announced limit end a connection; a client that cannot know it yet is told
// for each of them, up to as many as clients begin with.
func TestMoreThanTheAnnouncedLimit(t *testing.T) {
	w := newTwin(t, time.Hour)
	early := w.visit(t)
	early.ask(4+excess, "/hold")
	require.False(t, early.cut(300*time.Millisecond), "it had not read the limit")
	early.ask(1, "/hold")
	require.True(t, early.cut(10*time.Second), "one more than anybody takes for granted")

	fair := w.visit(t)
	fair.agree()
	fair.ask(4, "/hold")
	require.False(t, fair.cut(300*time.Millisecond))
	fair.ask(1, "/hold")
	require.True(t, fair.cut(10*time.Second), "it knew the limit")
}

// A connection without a request ends after IdleTimeout; one with a request does not.
func TestConnectionsThatRest(t *testing.T) {
	w := newTwin(t, 200*time.Millisecond)
	busy, resting := w.visit(t), w.visit(t)
	busy.agree()
	busy.ask(1, "/hold")
	require.True(t, resting.cut(10*time.Second))
	require.False(t, busy.cut(600*time.Millisecond))
	close(w.release)
	require.NoError(t, busy.fr.WriteData(1, true, make([]byte, 9)))
	busy.send()
	require.True(t, busy.cut(10*time.Second), "its request is answered")
}
