// Package serve is camsim's RTSP server: it plays movies to whoever asks, in real time and for
// ever, and does wrong what it is asked to do wrong.
//
//	srv, err := serve.New(serve.Options{Listen: "127.0.0.1:8554",
//		Channels: []serve.Channel{{Path: "/cam", Movie: m}}, UDP: true})
//	err = srv.Start()                   // now srv.URL("/cam") can be read
//	err = srv.Run(ctx)                  // until ctx ends
//
// All channels follow one clock: at the same moment they show the same time of the loop.
package serve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/bluenviron/gortsplib/v4"
	"github.com/bluenviron/gortsplib/v4/pkg/auth"
	"github.com/bluenviron/gortsplib/v4/pkg/base"
	"github.com/bluenviron/gortsplib/v4/pkg/description"
	"github.com/bluenviron/gortsplib/v4/pkg/liberrors"

	"vmsbridge/scripts/lab/movie"
)

// Ways to sign in.
const (
	AuthNone         = "none"
	AuthBasic        = "basic"
	AuthDigest       = "digest"
	AuthDigestSHA256 = "digest-sha256"
)

// Channel is a movie at a path.
type Channel struct {
	Path  string // with a leading slash
	Movie *movie.Movie
	Late  time.Duration // behind the clock that all channels follow
}

// Options of a Server. Listen and Channels are required.
type Options struct {
	Listen         string // host:port of TCP; port 0 takes a free one
	Channels       []Channel
	TCP, UDP       bool // both false means both
	Auth           string
	User, Password string
	Faults         []Fault
}

// Server is a simulated camera. Make it with New, then Start and Run.
type Server struct {
	o        Options
	rtsp     *gortsplib.Server
	bound    net.Addr
	channels map[string]*channel

	mu      sync.Mutex
	playing map[*gortsplib.ServerSession]*channel
	began   time.Time
}

// New checks the options.
func New(o Options) (*Server, error) {
	if !o.TCP && !o.UDP {
		o.TCP, o.UDP = true, true
	}
	if o.Auth == "" {
		o.Auth = AuthNone
	}
	s := &Server{o: o, channels: map[string]*channel{}, playing: map[*gortsplib.ServerSession]*channel{}}
	methods, ok := map[string][]auth.VerifyMethod{AuthNone: nil, AuthBasic: {auth.VerifyMethodBasic},
		AuthDigest:       {auth.VerifyMethodDigestMD5},
		AuthDigestSHA256: {auth.VerifyMethodDigestSHA256}}[o.Auth]
	switch {
	case !ok:
		return nil, fmt.Errorf("serve with sign-in %q: it must be none, basic, digest or digest-sha256", o.Auth)
	case (o.Auth == AuthNone) != (o.User == ""):
		return nil, errors.New("serve with sign-in: give --user and --password together with --auth basic or digest")
	case len(o.Channels) == 0:
		return nil, errors.New("serve: there is nothing to serve")
	}
	s.rtsp = &gortsplib.Server{Handler: s, AuthMethods: methods, RTSPAddress: o.Listen, Listen: s.listen,
		DisableRTCPSenderReports: true,
		WriteQueueSize:           1024}
	for _, c := range o.Channels {
		path := strings.TrimSuffix(c.Path, "/")
		if !strings.HasPrefix(path, "/") || strings.ContainsAny(path, " ?#") {
			return nil, fmt.Errorf("serve at path %q: it must start with a slash and have no space, ? or #", c.Path)
		}
		if s.channels[path] != nil {
			return nil, fmt.Errorf("serve at path %q: the path is used twice", path)
		}
		s.channels[path] = &channel{server: s, movie: c.Movie, late: c.Late}
	}
	return s, nil
}

// Start listens. After it, clients may connect; pictures come when Run runs.
func (s *Server) Start() error {
	for range 20 {
		if s.o.UDP {
			port, err := udpPorts()
			if err != nil {
				return err
			}
			host, _, _ := net.SplitHostPort(s.o.Listen)
			s.rtsp.UDPRTPAddress, s.rtsp.UDPRTCPAddress = net.JoinHostPort(host, fmt.Sprint(port)),
				net.JoinHostPort(host, fmt.Sprint(port+1))
		}
		err := s.rtsp.Start()
		if err == nil {
			break
		}
		if !s.o.UDP || !strings.Contains(err.Error(), "address already in use") || s.bound != nil {
			return fmt.Errorf("listen on %s: %w", s.o.Listen, err)
		}
	}
	if s.bound == nil {
		return fmt.Errorf("listen on %s: the address is in use, or there are no two free UDP ports beside each "+
			"other; choose another --listen", s.o.Listen)
	}
	for _, c := range s.channels {
		if err := c.open(); err != nil {
			s.rtsp.Close()
			return err
		}
	}
	return nil
}

// udpPorts finds an even port whose successor is free too.
func udpPorts() (int, error) {
	for range 200 {
		a, err := net.ListenPacket("udp", ":0")
		if err != nil {
			return 0, fmt.Errorf("find UDP ports: %w", err)
		}
		p := a.LocalAddr().(*net.UDPAddr).Port &^ 1
		_ = a.Close()
		b, err := net.ListenPacket("udp", fmt.Sprintf(":%d", p+1))
		if err != nil {
			continue
		}
		_ = b.Close()
		return p, nil
	}
	return 0, errors.New("find UDP ports: no two neighbouring ones are free")
}

// URL is the address of a path, without credentials.
func (s *Server) URL(path string) string {
	return "rtsp://" + s.bound.String() + path
}

// Began is when the loop was at its start for the first time; zero before Run.
func (s *Server) Began() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.began
}

// Run plays until ctx ends, then closes everything and returns nil; or it returns why the server
// ended.
func (s *Server) Run(ctx context.Context) error { return s.RunReady(ctx, func() {}) }

// RunReady is Run that calls ready when the loop starts.
func (s *Server) RunReady(ctx context.Context, ready func()) error {
	s.mu.Lock()
	s.began = time.Now()
	s.mu.Unlock()
	ready()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var wg sync.WaitGroup
	for _, c := range s.channels {
		wg.Go(func() { c.play(ctx, s.began.Add(c.late)) })
	}
	ended := make(chan error, 1)
	go func() { ended <- s.rtsp.Wait() }()
	var err error
	select {
	case <-ctx.Done():
	case err = <-ended:
		err = fmt.Errorf("serve RTSP: %w", err)
	}
	cancel()
	wg.Wait()
	for _, c := range s.channels {
		c.stream.Close()
	}
	s.rtsp.Close()
	return err
}

// OnDescribe implements gortsplib's handler.
func (s *Server) OnDescribe(ctx *gortsplib.ServerHandlerOnDescribeCtx) (*base.Response, *gortsplib.ServerStream,
	error) {
	if err := s.verify(ctx.Conn, ctx.Request); err != nil {
		return &base.Response{StatusCode: base.StatusUnauthorized}, nil, err
	}
	if _, on := s.fault("forbidden"); on {
		return &base.Response{StatusCode: base.StatusForbidden}, nil, nil
	}
	c := s.channels[strings.TrimSuffix(ctx.Path, "/")]
	if c == nil {
		return &base.Response{StatusCode: base.StatusNotFound}, nil, nil
	}
	return &base.Response{StatusCode: base.StatusOK}, c.stream, nil
}

// OnSetup implements gortsplib's handler.
func (s *Server) OnSetup(ctx *gortsplib.ServerHandlerOnSetupCtx) (*base.Response, *gortsplib.ServerStream, error) {
	if err := s.verify(ctx.Conn, ctx.Request); err != nil {
		return &base.Response{StatusCode: base.StatusUnauthorized}, nil, err
	}
	if _, on := s.fault("busy"); on {
		return &base.Response{StatusCode: base.StatusNotEnoughBandwidth}, nil, nil
	}
	_, noTCP := s.fault("no-tcp")
	if ctx.Transport == gortsplib.TransportTCP && (noTCP || !s.o.TCP) {
		return &base.Response{StatusCode: base.StatusUnsupportedTransport}, nil, nil
	}
	c := s.channels[strings.TrimSuffix(ctx.Path, "/")]
	if c == nil {
		return &base.Response{StatusCode: base.StatusNotFound}, nil, nil
	}
	return &base.Response{StatusCode: base.StatusOK}, c.stream, nil
}

// OnPlay implements gortsplib's handler.
func (s *Server) OnPlay(ctx *gortsplib.ServerHandlerOnPlayCtx) (*base.Response, error) {
	if c := s.channels[strings.TrimSuffix(ctx.Path, "/")]; c != nil {
		c.played()
		s.mu.Lock()
		s.playing[ctx.Session] = c
		s.mu.Unlock()
	}
	return &base.Response{StatusCode: base.StatusOK}, nil
}

// OnSessionClose implements gortsplib's handler.
func (s *Server) OnSessionClose(ctx *gortsplib.ServerHandlerOnSessionCloseCtx) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.playing, ctx.Session)
}

// OnStreamWriteError implements gortsplib's handler: a slow reader loses packets, which is its own
// affair.
func (s *Server) OnStreamWriteError(*gortsplib.ServerHandlerOnStreamWriteErrorCtx) {}

// OnPacketsLost implements gortsplib's handler.
func (s *Server) OnPacketsLost(*gortsplib.ServerHandlerOnPacketsLostCtx) {}

// OnDecodeError implements gortsplib's handler.
func (s *Server) OnDecodeError(*gortsplib.ServerHandlerOnDecodeErrorCtx) {}

func (s *Server) verify(c *gortsplib.ServerConn, req *base.Request) error {
	if s.o.Auth == AuthNone || c.VerifyCredentials(req, s.o.User, s.o.Password) {
		return nil
	}
	return liberrors.ErrServerAuth{}
}

// hangUp closes the sessions of a channel.
func (s *Server) hangUp(c *channel) {
	s.mu.Lock()
	var sessions []*gortsplib.ServerSession
	for ses, of := range s.playing {
		if of == c {
			sessions = append(sessions, ses)
		}
	}
	s.mu.Unlock()
	for _, ses := range sessions {
		ses.Close()
	}
}

func describe(m *description.Media) *description.Session {
	return &description.Session{Title: "camsim", Medias: []*description.Media{m}}
}
