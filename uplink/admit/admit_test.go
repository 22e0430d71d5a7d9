package admit

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// A server keeps a connection whose request it did not read whole for half a second.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*conn).closeWriteAndWait"))
}

// bed is a real server behind a Listener. "/known" says that its caller is known, and "/hold" does,
// and waits for release.
type bed struct {
	t       *testing.T
	l       *Listener
	ahead   atomic.Int64 // of the clock
	holding atomic.Int64
	release chan struct{}
}

// newBed serves. No address counts as this machine's own but 127.0.0.1.
func newBed(t *testing.T, o Options) *bed {
	t.Helper()
	inner, err := net.Listen("tcp", "0.0.0.0:0")
	require.NoError(t, err)
	b := &bed{t: t, l: New(inner, o), release: make(chan struct{})}
	b.l.now = func() time.Time { return time.Now().Add(time.Duration(b.ahead.Load())) }
	b.l.own = func(a netip.Addr) bool { return a == netip.MustParseAddr("127.0.0.1") }
	mux := http.NewServeMux()
	mux.HandleFunc("/known", func(w http.ResponseWriter, r *http.Request) {
		Known(r.Context())
		n, err := io.Copy(io.Discard, r.Body)
		_, _ = fmt.Fprintf(w, "%d%v", n, err)
	})
	mux.HandleFunc("/passed", func(w http.ResponseWriter, r *http.Request) {
		Passed(r.Context())
		n, err := io.Copy(io.Discard, r.Body)
		_, _ = fmt.Fprintf(w, "%d%v", n, err)
	})
	mux.HandleFunc("/hold", func(_ http.ResponseWriter, r *http.Request) {
		Known(r.Context())
		b.holding.Add(1)
		<-b.release
	})
	mux.HandleFunc("/refuse", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "refused") })
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		n, err := io.Copy(io.Discard, r.Body)
		_, _ = fmt.Fprintf(w, "%d%v", n, err)
	})
	s := &http.Server{Handler: Bodies(mux), ReadTimeout: BodyTime}
	b.l.Attach(s)
	served := make(chan error, 1)
	go func() { served <- s.Serve(b.l) }()
	t.Cleanup(func() { close(b.release); _ = s.Close(); <-served })
	return b
}

// dial connects from an address of this machine.
func (b *bed) dial(from string) net.Conn {
	b.t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}, Timeout: 5 * time.Second}
	c, err := d.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", b.l.Addr().(*net.TCPAddr).Port))
	require.NoError(b.t, err)
	b.t.Cleanup(func() { _ = c.Close() })
	return c
}

// ask sends a request and reads its answer; "" if the connection was cut off.
func (b *bed) ask(c net.Conn, request string) string {
	b.t.Helper()
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := io.WriteString(c, request); err != nil {
		return ""
	}
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return ""
	}
	defer res.Body.Close()
	body, _ := io.ReadAll(res.Body)
	return string(body)
}

const get = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

// cut says whether the server has closed a connection.
func cut(c net.Conn) bool {
	_ = c.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
	_, err := c.Read(make([]byte, 1))
	return err != nil && !errors.Is(err, os.ErrDeadlineExceeded)
}

func (b *bed) until(what string, cond func() bool) {
	b.t.Helper()
	require.Eventually(b.t, cond, 10*time.Second, 5*time.Millisecond, what)
}

func (b *bed) counts() (all, rest, strange int) {
	b.l.mu.Lock()
	defer b.l.mu.Unlock()
	return b.l.all.n, b.l.all.rest[idle].Len(), b.l.all.rest[stranger].Len()
}

// One address fills its own places and nobody else's. Strangers who had their time make room for
// others, who is known does not.
func TestPlacesOfAnAddress(t *testing.T) {
	b := newBed(t, Options{Total: 64, PerAddress: 4})
	var first []net.Conn
	for range 4 {
		first = append(first, b.dial("127.0.0.2"))
	}
	b.until("four are in", func() bool { n, _, _ := b.counts(); return n == 4 })
	require.Empty(t, b.ask(b.dial("127.0.0.2"), get), "a fifth at once is one too many")
	require.Equal(t, "0<nil>", b.ask(b.dial("127.0.0.3"), get), "another address has places of its own")
	for range 8 {
		require.Equal(t, "0<nil>", b.ask(b.dial("127.0.0.1"), get), "this machine itself may have more")
	}
	b.ahead.Add(int64(patience + time.Second))
	require.Equal(t, "0<nil>", b.ask(b.dial("127.0.0.2"), get), "the oldest stranger makes room")
	require.True(t, cut(first[0]))
	require.False(t, cut(first[3]))
}

// A connection that rests between requests makes room at once; one that waits for the answer to a
// good request never.
func TestWhoMakesRoom(t *testing.T) {
	b := newBed(t, Options{Total: 64, PerAddress: 2})
	busy, resting := b.dial("127.0.0.2"), b.dial("127.0.0.2")
	_, err := io.WriteString(busy, "GET /hold HTTP/1.1\r\nHost: x\r\n\r\n")
	require.NoError(t, err)
	require.Equal(t, "0<nil>", b.ask(resting, "GET /known HTTP/1.1\r\nHost: x\r\n\r\n"))
	b.until("one waits for its answer, one rests", func() bool {
		_, rest, _ := b.counts()
		return rest == 1 && b.holding.Load() == 1
	})
	b.ahead.Add(int64(time.Hour))
	next := b.dial("127.0.0.2")
	require.Equal(t, "0<nil>", b.ask(next, "GET /known HTTP/1.1\r\nHost: x\r\n\r\n"))
	require.True(t, cut(resting))
	require.False(t, cut(busy))
	second := b.dial("127.0.0.2")
	_, err = io.WriteString(second, "GET /hold HTTP/1.1\r\nHost: x\r\n\r\n")
	require.NoError(t, err)
	b.until("both are known", func() bool { return b.holding.Load() == 2 })
	b.ahead.Add(int64(time.Hour))
	require.Empty(t, b.ask(b.dial("127.0.0.2"), get), "nobody makes room")
	require.False(t, cut(busy))
}

// Who was answered and never showed who it is stays a stranger while it rests: over TLS and HTTP/2
// a connection holds as much between requests as within one.
func TestStrangersThatRest(t *testing.T) {
	b := newBed(t, Options{Total: 64, PerAddress: 64, Strangers: 4})
	friend := b.dial("127.0.0.2")
	require.Equal(t, "0<nil>", b.ask(friend, "GET /known HTTP/1.1\r\nHost: x\r\n\r\n"))
	var all []net.Conn
	for range 12 {
		c := b.dial("127.0.0.3")
		require.Equal(t, "0<nil>", b.ask(c, get))
		all = append(all, c)
		b.until("it rests", func() bool { _, _, n := b.counts(); return n == 0 })
	}
	require.False(t, cut(friend), "who was known once rests elsewhere")
	for i, c := range all {
		require.Equal(t, i < len(all)-4, cut(c), "the longest idle makes room: %d", i)
	}
}

// A crowd of strangers from one address, as of bridges that come back at once, makes room for
// itself: who waits for an answer elsewhere, or was known before, is not cut off.
func TestACrowdMakesRoomForItself(t *testing.T) {
	b := newBed(t, Options{Total: 64, PerAddress: 64, Strangers: 4})
	known := b.dial("127.0.0.3")
	require.Equal(t, "0<nil>", b.ask(known, "GET /known HTTP/1.1\r\nHost: x\r\n\r\n"))
	_, err := io.WriteString(known, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n")
	require.NoError(t, err)
	alone := b.dial("127.0.0.2")
	strangers := func(n int) {
		b.until("strangers are in", func() bool { _, _, in := b.counts(); return in == n })
		b.ahead.Add(int64(2 * patience))
	}
	strangers(2)
	var crowd []net.Conn
	for i := range 12 {
		crowd = append(crowd, b.dial("127.0.0.3"))
		if i >= 2 {
			b.until("the oldest of the crowd is out", func() bool { return cut(crowd[i-2]) })
		}
		strangers(min(3+i, 4))
	}
	require.False(t, cut(alone), "its address has no other")
	require.False(t, cut(known), "it was known")
	for i, c := range crowd {
		require.Equal(t, i < len(crowd)-2, cut(c), "the oldest makes room: %d", i)
	}
}

// A crowd that asks again as soon as it is cut off is younger than who waits for an answer: its
// next waits for one of itself to have had its time. Who came by itself has not for ever.
func TestACrowdThatAsksAgainAtOnce(t *testing.T) {
	b := newBed(t, Options{Total: 64, PerAddress: 64, Strangers: 8})
	known := b.dial("127.0.0.4")
	require.Equal(t, "0<nil>", b.ask(known, "GET /known HTTP/1.1\r\nHost: x\r\n\r\n"))
	_, err := io.WriteString(known, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n")
	require.NoError(t, err)
	alone := b.dial("127.0.0.2")
	strangers := func(what string, n int) {
		b.until(what, func() bool { _, _, in := b.counts(); return in == n })
	}
	strangers("two are in", 2)
	b.ahead.Add(int64(2 * patience))
	var crowd []net.Conn
	for range 6 {
		crowd = append(crowd, b.dial("127.0.0.3"))
	}
	strangers("all places are taken", 8)
	next := b.dial("127.0.0.3")
	b.until("the next waits", func() bool { all, _, _ := b.counts(); return all == 9 })
	for _, c := range append([]net.Conn{alone, known}, crowd...) {
		require.False(t, cut(c))
	}
	b.ahead.Add(int64(2 * patience))
	require.Equal(t, "0<nil>", b.ask(next, get))
	require.True(t, cut(crowd[0]))
	require.False(t, cut(alone), "its address has no other")
	require.False(t, cut(known), "it was known")

	for range 2 {
		crowd = append(crowd, b.dial("127.0.0.3"))
	}
	b.ahead.Add(int64(crowded))
	b.dial("127.0.0.3")
	b.until("one of the crowd makes room first", func() bool { return cut(crowd[1]) })
	for range 8 {
		crowd = append(crowd, b.dial("127.0.0.3"))
	}
	b.until("who is alone has had its time", func() bool { return cut(alone) })
}

// A stranger that was answered before all of its request came makes room at once, though the server
// keeps the connection for a while so that the answer is not lost.
func TestStrangersAnsweredInTheMiddle(t *testing.T) {
	b := newBed(t, Options{Total: 64, PerAddress: 64, Strangers: 4})
	for i := range 12 {
		require.Equal(t, "refused", b.ask(b.dial("127.0.0.3"), "POST /refuse HTTP/1.1\r\nHost: x\r\n"+
			"Content-Length: 1000000\r\n\r\nx"), i)
	}
}

// Who finds the places of strangers taken waits for one, in turn, as long as there are not too many
// who do; when the listener closes, those who wait are cut off.
func TestWhoWaits(t *testing.T) {
	b := newBed(t, Options{Total: 64, PerAddress: 64, Strangers: 4})
	var silent []net.Conn
	for range 4 {
		silent = append(silent, b.dial("127.0.0.2"))
	}
	b.until("all places are taken", func() bool { _, _, n := b.counts(); return n == 4 })
	var waits []net.Conn
	for range 8 { // an eighth of Total
		c := b.dial("127.0.0.3")
		_, err := io.WriteString(c, get)
		require.NoError(t, err)
		waits = append(waits, c)
	}
	b.until("eight wait", func() bool { n, _, _ := b.counts(); return n == 12 })
	require.Empty(t, b.ask(b.dial("127.0.0.3"), get), "one too many")
	_, _, n := b.counts()
	require.Equal(t, 4, n, "who waits is not served")
	require.NoError(t, silent[0].Close())
	for i, c := range waits {
		require.Equal(t, "0<nil>", b.ask(c, ""), i)
	}
	for range 3 {
		silent = append(silent, b.dial("127.0.0.2"))
	}
	b.until("all places are taken again", func() bool { _, _, n := b.counts(); return n == 4 })
	late := b.dial("127.0.0.3")
	require.Equal(t, "0<nil>", b.ask(late, get), "somebody has waited for long enough")
	_ = b.dial("127.0.0.2")
	last := b.dial("127.0.0.3")
	b.until("one waits", func() bool { n, _, _ := b.counts(); return n > 4 })
	require.NoError(t, b.l.Close())
	b.until("who waited is cut off", func() bool { return cut(last) })
}

// Whatever comes from elsewhere, the machine's own health checks get in, and a proxy that was named
// brings as many as it likes.
func TestRoomForTheMachineItself(t *testing.T) {
	b := newBed(t, Options{Total: 16, PerAddress: 8, Exempt: []netip.Prefix{netip.MustParsePrefix("127.0.0.9/32")}})
	for range 30 {
		b.dial("127.0.0.9")
	}
	b.until("all places but the last are taken", func() bool { n, _, _ := b.counts(); return n == 15 })
	require.Equal(t, "0<nil>", b.ask(b.dial("127.0.0.1"), get))
}

// The same where those who never showed who they are have all that they may.
func TestRoomForTheMachineItselfAmongStrangers(t *testing.T) {
	b := newBed(t, Options{Total: 256, PerAddress: 256, Strangers: 32})
	for range 40 {
		b.dial("127.0.0.2")
	}
	b.until("all places of strangers but two are taken", func() bool { _, _, n := b.counts(); return n == 30 })
	for range 2 {
		require.Equal(t, "0<nil>", b.ask(b.dial("127.0.0.1"), get))
	}
}

// What a crowd took is given back when it has gone, also where all leave in one moment.
func TestACrowdThatLeavesAtOnce(t *testing.T) {
	b := newBed(t, Options{Total: 1024, PerAddress: 1024})
	for range 20 {
		var all []net.Conn
		for range manyStrangers {
			all = append(all, b.dial("127.0.0.2"))
		}
		b.until("a crowd", b.l.memory.tight.Load)
		var leaving sync.WaitGroup
		for _, c := range all {
			leaving.Go(func() { _ = c.Close() })
		}
		leaving.Wait()
		b.until("the crowd has gone", func() bool { return !b.l.memory.tight.Load() })
	}
}

// A crowd whose members all show who they are is none any more, and two listeners of a process have
// one collector: when both crowds have gone, it is as it was.
func TestACrowdThatTurnsOutToBeKnown(t *testing.T) {
	collects := func() uint64 {
		s := []metrics.Sample{{Name: "/gc/gogc:percent"}}
		metrics.Read(s)
		return s[0].Value.Uint64()
	}
	before := collects()
	one, other := newBed(t, Options{Total: 1024, PerAddress: 1024}), newBed(t, Options{Total: 1024, PerAddress: 1024})
	var all [2][]net.Conn
	for i, b := range []*bed{one, other} {
		for range manyStrangers {
			all[i] = append(all[i], b.dial("127.0.0.2"))
		}
		b.until("a crowd", b.l.memory.tight.Load)
		require.EqualValues(t, crowdGarbage, collects())
	}
	for i, b := range []*bed{one, other} {
		require.EqualValues(t, crowdGarbage, collects())
		for _, c := range all[i] {
			require.Equal(t, "0<nil>", b.ask(c, "GET /known HTTP/1.1\r\nHost: x\r\n\r\n"))
		}
		b.until("no crowd", func() bool { return !b.l.memory.tight.Load() })
	}
	require.Equal(t, before, collects())
}

// Those who have sent the most are cut off when strangers' requests hold more than they may
// together; small requests, and large ones of who is known, go through meanwhile.
func TestStrangersShareTheMemory(t *testing.T) {
	defer func(before time.Duration) { stepTime = before }(stepTime)
	stepTime = BodyTime // so that nothing else ends them
	b := newBed(t, Options{Total: 256, PerAddress: 256, Bytes: 256 << 10})
	half := "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n" + strings.Repeat("x", 60<<10)
	var large []net.Conn
	for range 100 {
		c := b.dial("127.0.0.2")
		large = append(large, c)
		_ = c.SetWriteDeadline(time.Now().Add(5 * time.Second))
		_, _ = io.WriteString(c, half)
	}
	b.until("most are cut off", func() bool {
		gone := 0
		for _, c := range large {
			if cut(c) {
				gone++
			}
		}
		return gone > 90
	})
	b.l.mu.Lock()
	held := b.l.bytes
	b.l.mu.Unlock()
	require.LessOrEqual(t, held, int64(256<<10)+100*smallRequest)
	require.Equal(t, "1000<nil>", b.ask(b.dial("127.0.0.3"),
		"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n"+strings.Repeat("x", 1000)))
	require.Equal(t, "1000000<nil>", b.ask(b.dial("127.0.0.3"),
		"POST /known HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n"+strings.Repeat("x", 1000000)))
	for _, c := range large {
		_ = c.Close()
	}
	b.until("nothing is left", func() bool {
		b.l.mu.Lock()
		defer b.l.mu.Unlock()
		return b.l.bytes == 0 && b.l.all.rest[stranger].Len() == 0
	})
}

// Over HTTP/2 a connection has many requests at a time. Strangers' are limited together, and cut
// off are those who have the most; who is known has as many as it likes.
func TestStrangersShareTheRequests(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	l := New(inner, Options{Total: 64, PerAddress: 64, Strangers: 8})
	var holding atomic.Int64
	release := make(chan struct{})
	s := httptest.NewUnstartedServer(Bodies(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			if r.URL.Path == "/known" {
				Known(r.Context())
			}
			holding.Add(1)
			defer holding.Add(-1)
			select {
			case <-r.Context().Done():
			case <-release:
			}
		}
	})))
	require.NoError(t, s.Listener.Close())
	s.Listener, s.EnableHTTP2 = l, true
	l.Attach(s.Config)
	s.StartTLS()
	defer s.Close()
	client := func() *http.Client {
		way := &http.Transport{ForceAttemptHTTP2: true, MaxConnsPerHost: 1,
			TLSClientConfig: s.Client().Transport.(*http.Transport).TLSClientConfig}
		t.Cleanup(way.CloseIdleConnections)
		return &http.Client{Transport: way}
	}
	var asking sync.WaitGroup
	defer asking.Wait()
	defer close(release)
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	hold := func(c *http.Client, path string) {
		asking.Go(func() {
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+path, nil)
			if err != nil {
				t.Error(err)
				return
			}
			if res, err := c.Do(r); err == nil {
				_ = res.Body.Close()
			}
		})
	}
	until := func(what string, n int64) {
		t.Helper()
		require.Eventually(t, func() bool { return holding.Load() == n }, 20*time.Second, 5*time.Millisecond, what)
	}
	known, greedy, modest := client(), client(), client()
	for n := range 40 {
		hold(known, "/known")
		until("who is known has many", int64(n)+1)
	}
	for n := range 16 {
		hold(greedy, "/hold")
		until("a stranger may have all that strangers may have", int64(n)+41)
	}
	res, err := modest.Get(s.URL)
	require.NoError(t, err, "another's first request is within its share")
	require.NoError(t, res.Body.Close())
	hold(greedy, "/hold")
	until("one more cuts it off with all that it has", 40)
	require.Eventually(t, func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.requests == 0
	}, 10*time.Second, 5*time.Millisecond, "nothing is left, and who is known does not count")
}

// What is passed on counts for nothing, for one request: the next one of its connection counts.
func TestWhatIsPassedOn(t *testing.T) {
	b := newBed(t, Options{Total: 16, PerAddress: 16, Bytes: 64 << 10})
	post := func(path string) string {
		return "POST " + path + " HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n" + strings.Repeat("x", 1000000)
	}
	c := b.dial("127.0.0.2")
	for range 2 {
		require.Equal(t, "1000000<nil>", b.ask(c, post("/passed")))
	}
	require.Empty(t, b.ask(c, post("/")), "it is cut off")
	b.until("nothing is left", func() bool {
		b.l.mu.Lock()
		defer b.l.mu.Unlock()
		return b.l.bytes == 0
	})
}

// The body of a GET counts for nothing and is not waited for.
func TestGetHasNoBody(t *testing.T) {
	b := newBed(t, Options{Total: 16, PerAddress: 16})
	require.Equal(t, "0<nil>", b.ask(b.dial("127.0.0.2"),
		"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n"))
	require.Equal(t, "0<nil>", b.ask(b.dial("127.0.0.2"),
		"GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"))
	c := b.dial("127.0.0.2")
	require.Equal(t, "0<nil>", b.ask(c, "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: "+strconv.Itoa(len(get))+
		"\r\n\r\n"+get))
	require.Empty(t, b.ask(c, ""), "what it held is not taken for a request")
}

// A body that stops coming ends in a few seconds; one that goes on slowly does not, and its handler
// may think for as long as it likes afterwards.
func TestBodiesHaveToMove(t *testing.T) {
	defer func(before time.Duration) { stepTime = before }(stepTime)
	stepTime = 300 * time.Millisecond
	b := newBed(t, Options{Total: 16, PerAddress: 16})
	begun := time.Now()
	answer := b.ask(b.dial("127.0.0.2"), "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n"+
		strings.Repeat("x", 90000))
	require.Contains(t, answer, "i/o timeout")
	require.Less(t, time.Since(begun), BodyTime/2)

	c := b.dial("127.0.0.2")
	_, err := io.WriteString(c, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 81920\r\n\r\n")
	require.NoError(t, err)
	for range 9 {
		_, err := c.Write(make([]byte, stepBytes))
		require.NoError(t, err)
		pause(t, 100*time.Millisecond)
	}
	require.Equal(t, "81920<nil>", b.ask(c, strings.Repeat("x", stepBytes)), "0.9 s in all, and no 0.3 s without 8 KiB")
}

// pause is the time between two pieces of a body that comes slowly.
func pause(t *testing.T, d time.Duration) {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	<-ctx.Done()
}
