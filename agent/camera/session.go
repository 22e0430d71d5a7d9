package camera

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bluenviron/gortsplib/v4"
	"github.com/bluenviron/gortsplib/v4/pkg/base"
	"github.com/bluenviron/gortsplib/v4/pkg/description"
	"github.com/bluenviron/gortsplib/v4/pkg/headers"
	"github.com/pion/rtcp"
	"github.com/pion/rtp"

	"vmsbridge/agent/camera/capture"
	"vmsbridge/agent/camera/dial"
	"vmsbridge/agent/camera/offer"
	"vmsbridge/agent/camera/signin"
	"vmsbridge/agent/camera/unit"
)

const (
	teardownTime  = 1500 * time.Millisecond // for TEARDOWN to a camera that does not read
	wrongSSRC     = 3                       // packets in a row from another source before the session is given up
	watchInterval = 100 * time.Millisecond
)

// session is one connection, from DESCRIBE to TEARDOWN.
//
// The RTSP client calls back on its own goroutines (one for TCP; for UDP one for RTP and one for RTCP). Everything they touch
// is behind mu. They never close the client, which would wait for themselves: they leave a failure in failed, and run, which
// looks after the session, closes it.
type session struct {
	t      *target
	log    *slog.Logger
	stats  *counters
	clock  *capture.Clock // guarded by mu during the session
	floor  int64
	onUnit func(AccessUnit)
	onInfo func(info)

	transport gortsplib.Transport
	anyPort   bool
	client    *gortsplib.Client
	dialer    *dial.Dialer
	signIn    *signin.Watcher
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

// run opens the session and keeps it until it fails or ctx ends. It returns after everything has stopped; nil means ctx.
func (s *session) run(ctx context.Context) (f *Failure) {
	s.failed = make(chan *Failure, 1)
	s.dialer = dial.New(dial.Options{Host: s.t.url.Hostname(), Connect: s.t.ConnectTimeout, Idle: s.t.ReadTimeout, Fingerprint: s.t.fingerprint,
		Insecure: s.t.TLS.InsecureSkipVerify})
	s.signIn = signin.New(s.t.Username, s.t.secure || s.t.AllowInsecureBasic)
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
		ListenPacket:          dial.ListenUDP,
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

// bounded runs a request of the client with a limit. Being cut off, the client returns an error of its own.
func (s *session) bounded(limit time.Duration, request func() error) error {
	var expired atomic.Bool
	timer := time.AfterFunc(limit, func() {
		expired.Store(true)
		s.dialer.Drop()
	})
	defer timer.Stop()
	err := request()
	if err != nil && expired.Load() {
		return errors.Join(errNoAnswer, err)
	}
	return err
}

var errNoAnswer = errors.New("no answer in time")

func (s *session) open() *Failure {
	var desc *description.Session
	err := s.bounded(s.t.ConnectTimeout+2*s.t.ReadTimeout, func() (err error) {
		desc, _, err = s.client.Describe(s.t.url)
		return err
	})
	if err != nil {
		return s.explain("DESCRIBE", err)
	}
	var offers []Offer
	if o := s.offers.Load(); o != nil {
		offers = *o
	}
	c, f := choose(desc, offers)
	if f != nil {
		return f
	}
	if f := s.prepare(c); f != nil {
		return f
	}
	if err := s.bounded(s.t.ReadTimeout, func() error {
		_, err := s.client.Setup(desc.BaseURL, c.media, 0, 0)
		return err
	}); err != nil {
		return s.explain("SETUP", err)
	}
	s.client.OnPacketRTP(c.media, c.format, func(p *rtp.Packet) { s.guarded(func() { s.onPacket(p) }) })
	s.client.OnPacketRTCP(c.media, func(p rtcp.Packet) { s.guarded(func() { s.onRTCP(p) }) })
	if err := s.bounded(s.t.ReadTimeout, func() error {
		_, err := s.client.Play(nil)
		return err
	}); err != nil {
		return s.explain("PLAY", err)
	}
	s.dialer.Settled()
	return nil
}

// prepare sets up the way from packets to units.
func (s *session) prepare(c choice) *Failure {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.info = info{codec: c.codec, transport: s.transportName()}
	s.lastAt = time.Now()
	s.build = unit.NewBuilder(c.codec, s.floor, &s.stats.built, c.sets...)
	var err error
	s.asm, err = unit.NewAssembler(c.codec, c.mode, s.onCoded, func(err error) {
		s.stats.decodeErrors.Add(1)
		s.lastErr = err.Error()
	})
	if err != nil {
		return failf(UnsupportedCodec, err, "The camera packs its %s stream in a way that cannot be read (%s). Choose another profile or codec in the camera.", c.codec, s.t.clean(err.Error()))
	}
	return nil
}

func (s *session) transportName() string {
	name := map[gortsplib.Transport]string{gortsplib.TransportTCP: TransportTCP, gortsplib.TransportUDP: TransportUDP,
		gortsplib.TransportUDPMulticast: TransportMulticast}[s.transport]
	if s.t.secure {
		name = "tls+" + name
	}
	return name
}

// fail ends the session with the first failure, mu held: nothing is handed on any more. It never blocks.
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
		s.fail(failf(Refused, fmt.Errorf("panic: %v", r), "The camera's stream met a bug in this program. The connection is made anew; please report it with the log."))
	}
}

func (s *session) onResponse(res *base.Response) {
	s.guarded(func() { s.readResponse(res) })
}

func (s *session) readResponse(res *base.Response) {
	if res.StatusCode >= 300 {
		s.status.Store(int64(res.StatusCode))
	}
	if v := res.Header["Server"]; len(v) == 1 {
		name := s.t.clean(v[0])
		s.server.Store(&name)
	}
	if h := res.Header["Transport"]; len(h) == 1 {
		res.Header["Transport"] = base.HeaderValue{tidyTransport(h[0])}
	}
	s.signIn.Response(res)
	if res.StatusCode == base.StatusOK && s.offers.Load() == nil && len(res.Body) > 0 && isSDP(res.Header) {
		body, offers := offer.Read(res.Body)
		s.unread.Store(body == nil)
		s.offers.Store(&offers)
		res.Body = body
	}
}

func isSDP(h base.Header) bool {
	ct := h["Content-Type"]
	return len(ct) == 1 && strings.HasPrefix(strings.ToLower(strings.TrimSpace(ct[0])), "application/sdp")
}

// tidyTransport leaves a Transport header alone unless the library cannot read it with a source that is no address: many
// cameras put a host name or nothing there.
func tidyTransport(v string) string {
	var th headers.Transport
	if th.Unmarshal(base.HeaderValue{v}) == nil {
		return v
	}
	var keep []string
	for part := range strings.SplitSeq(v, ";") {
		if name, _, _ := strings.Cut(strings.TrimSpace(part), "="); strings.EqualFold(name, "source") || strings.EqualFold(name, "ssrc") {
			continue
		}
		keep = append(keep, part)
	}
	return strings.Join(keep, ";")
}
