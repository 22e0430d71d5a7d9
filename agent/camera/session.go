package camera

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bluenviron/gortsplib/v4"
	"github.com/bluenviron/gortsplib/v4/pkg/base"

	"vmsbridge/agent/camera/unit"
)

const (
	teardownTime = 1500 * time.Millisecond // for TEARDOWN to a camera that does not read
	wrongSSRC    = 3                       // packets in a row from another source before the session is given up
	watchSoon    = 100 * time.Millisecond  // from one look at a session to the next
)

// session is one connection, from DESCRIBE to TEARDOWN.
//
// The RTSP client calls back on its own goroutines (one for TCP; for UDP one for RTP and one for
// RTCP). Everything they touch is behind mu. They never close the client, which would wait for
// themselves: they leave a failure in failed, and run, which looks after the session, closes it.
type session struct {
	t      *target
	log    *slog.Logger
	stats  *counters
	clock  *unit.Clock // guarded by mu during the session
	floor  int64
	onUnit func(AccessUnit)
	onInfo func(info)

	transport gortsplib.Transport
	anyPort   bool
	client    *gortsplib.Client
	dialer    *dialer
	signIn    *signIn
	offers    atomic.Pointer[[]Offer]
	unread    atomic.Bool // the description could not be read
	server    atomic.Pointer[string]
	status    atomic.Int64 // last status code ≥ 300
	failed    chan *Failure
	wg        sync.WaitGroup
	eager     bool // give a silent stream up before StaleAfter, see check

	mu        sync.Mutex
	over      bool // failed
	asm       *unit.Assembler
	build     *unit.Builder
	strangers int // packets in a row with another SSRC
	ssrc      uint32
	packets   uint64
	pictures  uint64 // coded ones
	lastErr   string // newest depacketiser error
	lastRTP   uint32 // of the newest unit, with its time
	lastTime  int64
	lastAt    time.Time // when the newest coded picture came
	longest   time.Duration
	wasOnline bool
	badSince  time.Time // since when all units are damaged, zero if they are not
	info      info
}

// info is what a session learns of its stream.
type info struct {
	state         State // Online or NoKeyframe
	reason        string
	codec         Codec
	width, height int
	transport     string
}

// run opens the session and keeps it until it fails or ctx ends. It returns after everything has
// stopped; nil means ctx.
func (s *session) run(ctx context.Context) (f *Failure) {
	s.failed = make(chan *Failure, 1)
	s.dialer = newDialer(dialOptions{Host: s.t.url.Hostname(), Connect: s.t.ConnectTimeout, Idle: s.t.ReadTimeout,
		Fingerprint: s.t.fingerprint,
		Insecure:    s.t.TLS.InsecureSkipVerify})
	s.signIn = watchSignIn(s.t.Username, s.t.secure || s.t.AllowInsecureBasic)
	s.client = &gortsplib.Client{
		Scheme:                s.t.url.Scheme,
		Host:                  s.t.url.Host,
		ReadTimeout:           max(s.t.ReadTimeout, s.t.StaleAfter) + 2*time.Second, // ours come first
		WriteTimeout:          s.t.ReadTimeout,
		InitialUDPReadTimeout: 3 * time.Second,
		Transport:             &s.transport,
		AnyPortEnable:         s.anyPort,
		UserAgent:             "vmsbridge",
		DialContext:           s.dialer.Dial,
		ListenPacket:          listenUDP,
		OnRequest:             s.signIn.Request,
		OnResponse:            s.onResponse,
		OnServerRequest:       func(*base.Request) {},
		OnTransportSwitch:     func(error) {},
		OnPacketsLost:         func(n uint64) { s.guarded(func() { s.onLost(n) }) },
		OnDecodeError:         func(err error) { s.guarded(func() { s.onDecodeError(err) }) },
	}
	if s.t.secure {
		s.client.TLSConfig = s.dialer.TLSConfig()
	}
	if err := s.client.Start2(); err != nil {
		return failf(Refused, err, "The connection cannot be prepared: %s.", s.t.clean(err.Error()))
	}
	defer s.wg.Wait()
	defer s.close()

	// The client knows nothing of ctx, and some of its calls wait for the network.
	over := make(chan struct{})
	s.wg.Go(func() {
		select {
		case <-ctx.Done():
			s.close()
		case <-over:
		}
	})
	defer close(over)

	if f := s.open(); f != nil {
		if ctx.Err() != nil {
			return nil
		}
		return f
	}
	return s.watch(ctx)
}

// close sends TEARDOWN and waits for the client's goroutines.
func (s *session) close() {
	cut := time.AfterFunc(cmp.Or(s.t.teardown, teardownTime), s.dialer.Drop)
	defer cut.Stop()
	s.client.Close()
}

// fail ends the session with the first failure, mu held: nothing is handed on any more. It never
// blocks.
func (s *session) fail(f *Failure) {
	s.over = true
	select {
	case s.failed <- f:
	default:
	}
}

// guarded runs a callback under mu. A panic ends this session, not the process.
func (s *session) guarded(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.rescue()
	if !s.over {
		f()
	}
}

func (s *session) rescue() {
	if r := recover(); r != nil {
		s.stats.panics.Add(1)
		s.log.Error("caught a bug while reading a camera", "panic", fmt.Sprint(r), "stack", string(debug.Stack()))
		s.fail(failf(Refused, fmt.Errorf("panic: %v", r), "The camera's stream met a bug in this program. The "+
			"connection is made anew; please report it with the log."))
	}
}
