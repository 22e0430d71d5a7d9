package camera

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/bluenviron/gortsplib/v4"
	"github.com/bluenviron/gortsplib/v4/pkg/auth"
	"github.com/bluenviron/gortsplib/v4/pkg/base"
	"github.com/bluenviron/gortsplib/v4/pkg/description"
	"github.com/bluenviron/gortsplib/v4/pkg/format"
	"github.com/bluenviron/gortsplib/v4/pkg/liberrors"
	"github.com/bluenviron/mediacommon/v2/pkg/codecs/h264"
	"github.com/pion/rtcp"
	"github.com/pion/rtp"
	"github.com/stretchr/testify/require"

	"vmsbridge/agent/camera/clip"
	"vmsbridge/agent/camera/unit"
	"vmsbridge/scripts/harness"
)

// fakeCamera is a gortsplib server that loops a clip at 40 pictures per second.
type fakeCamera struct {
	t      *testing.T
	clip   clip.Clip
	server *gortsplib.Server
	stream *gortsplib.ServerStream
	media  *description.Media
	format format.Format
	url    string

	user, password string
	// knobs, set before start
	methods   []auth.VerifyMethod
	tls       *tls.Config
	udp       bool
	multicast bool
	noParams  bool // none in the description
	listen    func(network, addr string) (net.Listener, error)
	onSetup   func(*gortsplib.ServerHandlerOnSetupCtx) *base.Response
	packets   func(unit int, pkts []*rtp.Packet) []*rtp.Packet // may drop and change
	ticks     func(unit int, ticks uint32) uint32              // may change the RTP time

	mu        sync.Mutex
	paused    bool
	torn      int // sessions that ended with TEARDOWN
	ended     int // sessions that ended at all
	setups    int
	plays     int
	describes int
	failures  int // requests with wrong credentials
	seq       uint16
	sent      int

	cancel context.CancelFunc
	wg     sync.WaitGroup
}

const fakeInterval = 25 * time.Millisecond

func (f *fakeCamera) OnDescribe(ctx *gortsplib.ServerHandlerOnDescribeCtx) (*base.Response, *gortsplib.ServerStream,
	error) {
	if f.user != "" && !ctx.Conn.VerifyCredentials(ctx.Request, f.user, f.password) {
		f.mu.Lock()
		if ctx.Request.Header["Authorization"] != nil {
			f.failures++
		}
		f.mu.Unlock()
		return &base.Response{StatusCode: base.StatusUnauthorized}, nil, liberrors.ErrServerAuth{}
	}
	f.mu.Lock()
	f.describes++
	f.mu.Unlock()
	if ctx.Path != "/cam" {
		return &base.Response{StatusCode: base.StatusNotFound}, nil, nil
	}
	return &base.Response{StatusCode: base.StatusOK}, f.stream, nil
}

func (f *fakeCamera) OnSetup(ctx *gortsplib.ServerHandlerOnSetupCtx) (*base.Response, *gortsplib.ServerStream, error) {
	if f.user != "" && !ctx.Conn.VerifyCredentials(ctx.Request, f.user, f.password) {
		return &base.Response{StatusCode: base.StatusUnauthorized}, nil, liberrors.ErrServerAuth{}
	}
	f.mu.Lock()
	f.setups++
	f.mu.Unlock()
	if f.onSetup != nil {
		if res := f.onSetup(ctx); res != nil {
			return res, nil, nil
		}
	}
	return &base.Response{StatusCode: base.StatusOK}, f.stream, nil
}

func (f *fakeCamera) OnPlay(*gortsplib.ServerHandlerOnPlayCtx) (*base.Response, error) {
	f.mu.Lock()
	f.plays++
	f.mu.Unlock()
	return &base.Response{StatusCode: base.StatusOK}, nil
}

func (f *fakeCamera) OnSessionClose(ctx *gortsplib.ServerHandlerOnSessionCloseCtx) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended++
	var torn liberrors.ErrServerSessionTornDown
	if errors.As(ctx.Error, &torn) {
		f.torn++
	}
}

func (f *fakeCamera) OnPacketsLost(*gortsplib.ServerHandlerOnPacketsLostCtx)           {}
func (f *fakeCamera) OnDecodeError(*gortsplib.ServerHandlerOnDecodeErrorCtx)           {}
func (f *fakeCamera) OnStreamWriteError(*gortsplib.ServerHandlerOnStreamWriteErrorCtx) {}

// left waits for the end of the only session. Over TCP it may be the connection that ends it: what
// the camera sent and nobody read any more breaks the connection, perhaps before the camera has
// seen the TEARDOWN in front of its end.
func (f *fakeCamera) left(transport string) {
	f.t.Helper()
	how := &f.torn
	if transport == TransportTCP {
		how = &f.ended
	}
	harness.Until(f.t, "the end of the session", func() bool { return f.count(how) == 1 })
}

// start serves the clip until the end of the test.
func (f *fakeCamera) start(t *testing.T) *fakeCamera {
	t.Helper()
	f.t = t
	host := "127.0.0.1"
	if f.multicast {
		host = multicastHost(t)
	}
	f.open(net.JoinHostPort(host, "0"))
	t.Cleanup(f.stop)
	return f
}

// multicastHost is an address of this machine on an interface that can multicast.
func multicastHost(t *testing.T) string {
	t.Helper()
	interfaces, err := net.Interfaces()
	require.NoError(t, err)
	for _, i := range interfaces {
		addrs, err := i.Addrs()
		require.NoError(t, err)
		for _, a := range addrs {
			if n, isNet := a.(*net.IPNet); isNet && n.IP.To4() != nil &&
				i.Flags&(net.FlagUp|net.FlagMulticast) == net.FlagUp|net.FlagMulticast {
				return n.IP.String()
			}
		}
	}
	t.Skip("no interface of this machine can multicast: ip link set lo multicast on")
	return ""
}

func (f *fakeCamera) open(address string) {
	f.server = &gortsplib.Server{Handler: f, RTSPAddress: address, AuthMethods: f.methods, TLSConfig: f.tls,
		DisableRTCPSenderReports: true}
	var bound net.Addr
	f.server.Listen = func(network, addr string) (net.Listener, error) {
		l := net.Listen
		if f.listen != nil {
			l = f.listen
		}
		ln, err := l(network, addr)
		if err == nil {
			bound = ln.Addr()
		}
		return ln, err
	}
	for range 50 { // two neighbouring ports that are free
		if f.udp {
			p := freePortPair(f.t)
			f.server.UDPRTPAddress, f.server.UDPRTCPAddress = fmt.Sprintf("127.0.0.1:%d", p),
				fmt.Sprintf("127.0.0.1:%d", p+1)
		}
		if f.multicast {
			f.server.MulticastIPRange, f.server.MulticastRTPPort, f.server.MulticastRTCPPort = "239.77.0.0/24", 24000,
				24001
		}
		err := f.server.Start()
		if err == nil {
			break
		}
		require.True(f.t, f.udp, err)
	}
	require.NotNil(f.t, bound)
	switch Codec(f.clip.Codec) {
	case H264:
		h := &format.H264{PayloadTyp: 96, PacketizationMode: 1}
		if !f.noParams {
			h.SPS, h.PPS = f.clip.Find(7), f.clip.Find(8)
		}
		f.format = h
	case H265:
		h := &format.H265{PayloadTyp: 96}
		if !f.noParams {
			h.VPS, h.SPS, h.PPS = f.clip.Find(32), f.clip.Find(33), f.clip.Find(34)
		}
		f.format = h
	case MJPEG:
		f.format = &format.MJPEG{}
	}
	f.media = &description.Media{Type: description.MediaTypeVideo, Formats: []format.Format{f.format}}
	f.stream = &gortsplib.ServerStream{Server: f.server,
		Desc: &description.Session{Medias: []*description.Media{f.media}}}
	require.NoError(f.t, f.stream.Initialize())
	scheme := "rtsp"
	if f.tls != nil {
		scheme = "rtsps"
	}
	f.url = fmt.Sprintf("%s://%s/cam", scheme, bound)
	ctx, cancel := context.WithCancel(context.Background())
	f.cancel = cancel
	f.wg.Go(func() { f.feed(ctx) })
}

func (f *fakeCamera) stop() {
	if f.server == nil {
		return
	}
	f.cancel()
	f.wg.Wait()
	f.stream.Close()
	f.server.Close()
	f.server = nil
}

func (f *fakeCamera) feed(ctx context.Context) {
	enc := f.encoder()
	began := time.Now()
	due := time.NewTimer(0)
	defer due.Stop()
	for i := 0; ; i++ {
		// By the clock, as a camera takes pictures: with a ticker, which leaves out what comes too
		// late, RTP time would fall behind.
		due.Reset(time.Until(began.Add(time.Duration(i+1) * fakeInterval)))
		select {
		case <-ctx.Done():
			return
		case <-due.C:
		}
		f.mu.Lock()
		paused := f.paused
		f.mu.Unlock()
		if paused {
			continue
		}
		n := i % len(f.clip.Units)
		shown := i/len(f.clip.Units)*len(f.clip.Units) + f.clip.Order[n]
		ticks := uint32(shown) * uint32(fakeInterval*unit.TickRate/time.Second)
		if f.ticks != nil {
			ticks = f.ticks(i, ticks)
		}
		pkts := enc(f.clip.Units[n])
		for _, p := range pkts {
			p.SequenceNumber = f.seq
			f.seq++
			p.Timestamp = ticks
		}
		if f.packets != nil {
			pkts = f.packets(i, pkts)
		}
		for _, p := range pkts {
			_ = f.stream.WritePacketRTP(f.media, p)
		}
		f.mu.Lock()
		f.sent++
		f.mu.Unlock()
	}
}

// encoder makes small packets, so that a picture has several.
func (f *fakeCamera) encoder() func([][]byte) []*rtp.Packet {
	switch g := f.format.(type) {
	case *format.H264:
		e, err := g.CreateEncoder()
		require.NoError(f.t, err)
		e.PayloadMaxSize = 300
		return func(au [][]byte) []*rtp.Packet {
			p, err := e.Encode(au)
			require.NoError(f.t, err)
			return p
		}
	case *format.H265:
		e, err := g.CreateEncoder()
		require.NoError(f.t, err)
		e.PayloadMaxSize = 300
		return func(au [][]byte) []*rtp.Packet {
			p, err := e.Encode(au)
			require.NoError(f.t, err)
			return p
		}
	case *format.MJPEG:
		e, err := g.CreateEncoder()
		require.NoError(f.t, err)
		return func(au [][]byte) []*rtp.Packet {
			p, err := e.Encode(au[0])
			require.NoError(f.t, err)
			return p
		}
	}
	return nil
}

func (f *fakeCamera) pause(on bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.paused = on
}

func (f *fakeCamera) count(what *int) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return *what
}

func (f *fakeCamera) rtcp(p rtcp.Packet) { _ = f.stream.WritePacketRTCP(f.media, p) }

// ssrc is that of the stream's packets.
func (f *fakeCamera) ssrc() uint32 {
	return f.stream.Stats().Medias[f.media].Formats[f.format].LocalSSRC
}

func freePortPair(t *testing.T) int {
	t.Helper()
	for range 100 {
		a, err := net.ListenPacket("udp", "127.0.0.1:0")
		require.NoError(t, err)
		p := a.LocalAddr().(*net.UDPAddr).Port &^ 1
		_ = a.Close()
		if b, err := net.ListenPacket("udp", fmt.Sprintf("127.0.0.1:%d", p+1)); err == nil {
			_ = b.Close()
			return p
		}
	}
	t.Fatal("no two free neighbouring ports")
	return 0
}

// nals splits Annex B.
func nals(t *testing.T, data []byte) [][]byte {
	t.Helper()
	var a h264.AnnexB
	require.NoError(t, a.Unmarshal(data))
	return a
}
