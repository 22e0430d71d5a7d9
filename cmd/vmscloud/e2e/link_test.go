package e2e

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"time"

	"vmsbridge/uplink/vms"
)

// linkOptions are those of listenLink.
type linkOptions struct {
	Seed uint64
	// Every is how many requests there are for one that meets a fault, on average; 1: all, 0: none.
	Every int
	// Patience is how long the client waits for an answer: slow answers take longer.
	Patience time.Duration
	// TLS makes it serve https.
	TLS *tls.Config
}

// Link stands as a server between a client and the service, hands requests on, and now and then
// does what real networks, proxies and overloaded services do. What happens is drawn from a seed,
// so that the same seed and the same requests meet the same faults. Safe for concurrent use.
type Link struct {
	target string
	opts   linkOptions
	onward *http.Client
	server *http.Server
	addr   string

	mu     sync.Mutex // guards the rest
	rng    *rand.Rand
	every  int
	counts map[Fault]int
	sent   int // reports that were handed on
	down   bool
	listen net.Listener
	served sync.WaitGroup
}

// listenLink begins to serve on a free port of 127.0.0.1.
func listenLink(target string, o linkOptions) (*Link, error) {
	l := &Link{
		target: target, opts: o, every: o.Every, counts: map[Fault]int{},
		rng:    rand.New(rand.NewPCG(o.Seed, 1)), //nolint:gosec // repeatable
		onward: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}, Timeout: 30 * time.Second},
	}
	l.server = &http.Server{Handler: http.HandlerFunc(l.serve), ErrorLog: log.New(io.Discard, "", 0),
		ReadHeaderTimeout: 10 * time.Second}
	if err := l.open("127.0.0.1:0"); err != nil {
		return nil, err
	}
	return l, nil
}

func (l *Link) open(addr string) error {
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("listen for a rough link: %w", err)
	}
	l.listen, l.addr = ln, ln.Addr().String()
	if l.opts.TLS != nil {
		ln = tls.NewListener(ln, l.opts.TLS)
	}
	l.served.Go(func() { _ = l.server.Serve(ln) })
	return nil
}

// URL is the base address for the client.
func (l *Link) URL() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.opts.TLS != nil {
		return "https://" + l.addr
	}
	return "http://" + l.addr
}

// Close ends it.
func (l *Link) Close() {
	_ = l.server.Close()
	l.served.Wait()
	l.onward.CloseIdleConnections()
}

// Every changes how often requests meet a fault.
func (l *Link) Every(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.every = n
}

// Counts is how often each fault has happened, and the sum.
func (l *Link) Counts() (counts map[Fault]int, total int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	counts = map[Fault]int{}
	for f, n := range l.counts {
		counts[f] = n
		total += n
	}
	return counts, total
}

// Sent is how many reports were handed on to the service.
func (l *Link) Sent() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sent
}

// draw decides what a request meets.
func (l *Link) draw() (f Fault, share float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.every == 0 || l.rng.IntN(l.every) != 0 {
		return "", 0
	}
	f = All[l.rng.IntN(len(All))]
	l.counts[f]++
	return f, l.rng.Float64()
}

func (l *Link) serve(w http.ResponseWriter, r *http.Request) {
	f, share := l.draw()
	if f == ResetMidRequest {
		_, _ = io.CopyN(io.Discard, r.Body, int64(share*float64(max(r.ContentLength, 0))))
		reset(w)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	if act := faults[f]; act != nil {
		act(l, w, &request{r: r, body: body, share: share})
		return
	}
	if a, err := l.forward(r, body); err == nil {
		a.write(w)
	} else {
		w.WriteHeader(http.StatusBadGateway)
	}
}

// answer is the service's.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (a answer) write(w http.ResponseWriter) {
	for k, v := range a.header {
		w.Header()[k] = v
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body)
}

// forward hands a request to the service and reads the answer. The service gets it even if the
// client has gone.
func (l *Link) forward(r *http.Request, body []byte) (answer, error) {
	out, err := http.NewRequestWithContext(context.WithoutCancel(r.Context()), r.Method, l.target+r.URL.RequestURI(),
		bytes.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	if out.Header = r.Header.Clone(); r.Method == http.MethodPost &&
		(r.URL.Path == vms.PathEvents || r.URL.Path == vms.PathReportMany) {
		l.mu.Lock()
		l.sent++
		l.mu.Unlock()
	}
	res, err := l.onward.Do(out)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = res.Body.Close() }()
	got, err := io.ReadAll(res.Body)
	return answer{res.StatusCode, res.Header, got}, err
}

// refuse closes the door for a while: connections under way are cut, new ones refused.
func (l *Link) refuse(d time.Duration) {
	l.mu.Lock()
	if l.down {
		l.mu.Unlock()
		return
	}
	l.down = true
	l.mu.Unlock()
	_ = l.listen.Close()
	time.Sleep(d)
	l.mu.Lock()
	defer l.mu.Unlock()
	for range 100 {
		if l.open(l.addr) == nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	l.down = false
}
