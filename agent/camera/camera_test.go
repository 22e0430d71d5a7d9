package camera

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"log"
	"log/slog"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	_ = flag.Set("test.parallel", "12") // these tests wait far more than they compute
	goleak.VerifyTestMain(quiet{m})
}

// quiet fails if anything was written with the standard log package: gortsplib does so where a
// callback of it is not set.
type quiet struct{ *testing.M }

func (q quiet) Run() int {
	var said lockedBuffer
	log.SetOutput(&said)
	code := q.M.Run()
	said.mu.Lock()
	defer said.mu.Unlock()
	if said.b.Len() > 0 {
		fmt.Fprintf(os.Stderr, "written with log.Println: %s", said.b.String())
		return 1
	}
	return code
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// reader runs a Source and remembers what it hands out.
type reader struct {
	t      *testing.T
	src    *Source
	cancel context.CancelFunc
	done   chan struct{}

	mu     sync.Mutex
	units  []AccessUnit
	states []Status
}

func testConfig(url string) Config {
	return Config{Camera: "gate", Stream: "main", URL: url, Transport: TransportTCP, ConnectTimeout: 2 * time.Second,
		ReadTimeout: 2 * time.Second,
		StaleAfter:  5 * time.Second, teardown: 10 * time.Second}
}

// read starts a Source; it is stopped, and its leaks looked for, at the end of the test.
func read(t *testing.T, cfg Config) *reader {
	t.Helper()
	logger := slog.New(slog.DiscardHandler)
	if os.Getenv("CAMERA_TEST_LOG") != "" {
		logger = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	src, err := New(cfg, logger, nil)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	return run(t, src, ctx, cancel)
}

func run(t *testing.T, src *Source, ctx context.Context, cancel context.CancelFunc) *reader {
	t.Helper()
	r := &reader{t: t, src: src, cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(r.done)
		_ = src.Run(ctx, Handler{
			OnUnit:   func(u AccessUnit) { r.mu.Lock(); r.units = append(r.units, u); r.mu.Unlock() },
			OnStatus: func(s Status) { r.mu.Lock(); r.states = append(r.states, s); r.mu.Unlock() },
		})
	}()
	t.Cleanup(r.stop)
	return r
}

func (r *reader) stop() {
	r.cancel()
	select {
	case <-r.done:
	case <-time.After(patience):
		r.t.Errorf("Run did not return within %s", patience)
	}
}

func (r *reader) all() []AccessUnit {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]AccessUnit(nil), r.units...)
}

func (r *reader) history() []Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Status(nil), r.states...)
}

// patience is how long a test waits for what comes sooner or later: long, for a machine that is
// busy or emulated.
const patience = time.Minute

// waitUnits waits for n units and returns all so far.
func (r *reader) waitUnits(n int) []AccessUnit {
	r.t.Helper()
	end := time.Now().Add(patience)
	for len(r.all()) < n {
		if time.Now().After(end) {
			r.t.Fatalf("only %d of %d units; states %+v", len(r.all()), n, r.history())
		}
		<-time.After(5 * time.Millisecond)
	}
	return r.all()
}

// waitState waits for a state and returns the status.
func (r *reader) waitState(s State) Status {
	r.t.Helper()
	end := time.Now().Add(patience)
	for {
		for _, st := range r.history() {
			if st.State == s {
				return st
			}
		}
		if time.Now().After(end) {
			r.t.Fatalf("no state %q within %s; states %+v", s, patience, r.history())
		}
		<-time.After(5 * time.Millisecond)
	}
}

// newSource makes a Source for a test that runs it itself.
func newSource(t *testing.T, cfg Config) (*Source, context.Context, context.CancelFunc) {
	t.Helper()
	src, err := New(cfg, slog.New(slog.DiscardHandler), nil)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	return src, ctx, cancel
}

// listen accepts connections until the end of the test and gives them to serve; they are closed at
// the end.
func listen(t *testing.T, serve func(net.Conn)) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var mu sync.Mutex
	var conns []net.Conn
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			conns = append(conns, c)
			mu.Unlock()
			wg.Go(func() { serve(c) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		mu.Lock()
		for _, c := range conns {
			_ = c.Close()
		}
		mu.Unlock()
		wg.Wait()
	})
	return l.Addr().String()
}
