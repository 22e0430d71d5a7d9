package camera

import (
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bluenviron/gortsplib/v4"
	"github.com/bluenviron/gortsplib/v4/pkg/base"
	"github.com/pion/rtcp"
	"github.com/pion/rtp"
	"github.com/stretchr/testify/require"

	"vmsbridge/agent/camera/clip"
	"vmsbridge/agent/camera/unit"
	"vmsbridge/scripts/harness"
)

// newStreams counts how often decoding had to start anew.
func newStreams(units []AccessUnit) int {
	n := 0
	for _, u := range units {
		if u.NewStream {
			n++
		}
	}
	return n
}

// A camera that restarts its encoder goes on with another SSRC. gortsplib refuses those packets for
// ever and keeps the session.
func TestSSRCChangeReconnects(t *testing.T) {
	t.Parallel()
	cam := &fakeCamera{clip: clip.Load(t, "plain.h264")}
	var change sync.Map // addresses of connections whose SSRC is changed
	cam.listen = func(network, addr string) (net.Listener, error) {
		l, err := net.Listen(network, addr)
		return &patchListener{l, &change}, err
	}
	cam.start(t)
	r := read(t, testConfig(cam.url))
	r.waitUnits(5)
	change.Store("now", true)
	harness.Until(t, "a second stream", func() bool { return newStreams(r.all()) == 2 })
	requireSane(t, r.all())
	st := r.waitState(Disconnected)
	require.Contains(t, st.Reason, "restarted its stream", "it waited for no timeout")
}

// patchListener gives each connection a byte that is added to the SSRC while "now" is set;
// connections made later are left alone.
type patchListener struct {
	net.Listener
	change *sync.Map
}

func (l *patchListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	_, already := l.change.Load("now")
	return &patchConn{c, l.change, already}, nil
}

type patchConn struct {
	net.Conn
	change *sync.Map
	exempt bool
}

func (c *patchConn) Write(b []byte) (int, error) {
	if _, on := c.change.Load("now"); on && !c.exempt && len(b) > 16 && b[0] == '$' && b[1] == 0 {
		b = append([]byte(nil), b...)
		b[12] ^= 0xFF
	}
	return c.Conn.Write(b)
}

func TestByeReconnects(t *testing.T) {
	t.Parallel()
	for _, transport := range []string{TransportTCP, TransportUDP} {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			cam := (&fakeCamera{clip: clip.Load(t, "plain.h264"), udp: true}).start(t)
			cfg := testConfig(cam.url)
			cfg.Transport = transport
			r := read(t, cfg)
			r.waitUnits(5)
			cam.rtcp(&rtcp.Goodbye{Sources: []uint32{12345}}) // of somebody else
			r.waitUnits(len(r.all()) + 5)
			require.Equal(t, 1, newStreams(r.all()))
			cam.rtcp(&rtcp.Goodbye{Sources: []uint32{cam.ssrc()}})
			harness.Until(t, "a second stream", func() bool { return newStreams(r.all()) == 2 })
			require.Contains(t, r.waitState(Disconnected).Reason, "ended the stream", "it waited for no timeout")
		})
	}
}

// gortsplib reads the fraction of NTP time as nanoseconds: up to 3.3 s wrong. The camera's clock
// may be wrong anyway; both must not touch capture times, and the difference must come out right.
func TestSenderReportClock(t *testing.T) {
	t.Parallel()
	for _, ahead := range []time.Duration{0, 90 * time.Minute, -50 * 365 * 24 * time.Hour} {
		t.Run(ahead.String(), func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			var lastTicks uint32
			var lastSent time.Time
			cam := &fakeCamera{clip: clip.Load(t, "plain.h264")}
			cam.ticks = func(_ int, ticks uint32) uint32 {
				mu.Lock()
				defer mu.Unlock()
				lastTicks, lastSent = ticks, time.Now()
				return ticks
			}
			cam.start(t)
			r := read(t, testConfig(cam.url))
			r.waitUnits(10)
			mu.Lock()
			// read as nanoseconds, this is 4.25 s
			at := lastSent.Add(ahead).Truncate(time.Second).Add(990 * time.Millisecond)
			ahead := at.Sub(lastSent)
			ntp := uint64(at.Unix()+2208988800)<<32 | uint64(float64(at.Nanosecond())/1e9*(1<<32))
			sr := &rtcp.SenderReport{SSRC: cam.ssrc(), NTPTime: ntp, RTPTime: lastTicks}
			mu.Unlock()
			cam.rtcp(sr)
			harness.Until(t, "sender report", func() bool { return r.src.Stats().CameraClockKnown })
			require.InDelta(t, ahead.Seconds(), r.src.Stats().CameraClock.Seconds(), 1.5)
			n := len(r.all())
			for _, u := range r.waitUnits(n + 10)[n:] {
				require.WithinDuration(t, time.Now(), u.Time, time.Minute)
			}
		})
	}
}

func TestSenderTime(t *testing.T) {
	at := time.Date(2026, 11, 21, 7, 0, 0, 750_000_000, time.UTC)
	require.WithinDuration(t, at, senderTime(uint64(at.Unix()+2208988800)<<32|3<<30), 0)
	// as VLC sends it
	_, ok := cameraClock(&rtcp.SenderReport{NTPTime: 1 << 40, RTPTime: 0}, 3_000_000_000, at.UnixNano())
	require.False(t, ok)
}

// Over TCP a doubled packet shows as 65535 lost ones.
func TestDoubledPacketsAreNotLoss(t *testing.T) {
	t.Parallel()
	cam := &fakeCamera{clip: clip.Load(t, "plain.h264")}
	cam.packets = func(i int, p []*rtp.Packet) []*rtp.Packet {
		if i%20 == 15 {
			p = append(p, p[len(p)-1])
		}
		return p
	}
	cam.start(t)
	r := read(t, testConfig(cam.url))
	r.waitUnits(60)
	s := r.src.Stats()
	require.Zero(t, s.LostPackets)
	require.NotZero(t, s.UnknownLoss)
}

// With packets lost, gortsplib hands on pictures of which slices are missing. They, and all that
// follows until the next keyframe, are marked; a keyframe with a hole is none.
func TestLossMarksUntilKeyframe(t *testing.T) {
	t.Parallel()
	for _, transport := range []string{TransportTCP, TransportUDP} {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			cam := &fakeCamera{clip: clip.Load(t, "slices.h264"), udp: true}
			var mu sync.Mutex
			hit := map[uint32]string{} // RTP time of pictures that lost a packet
			cam.packets = func(i int, p []*rtp.Packet) []*rtp.Packet {
				drop := -1
				switch {
				case i < 60:
				case i%40 == 5:
					drop = len(p) / 2
				case i%40 == 20: // the keyframe of the second half: its last packet
					drop = len(p) - 1
				}
				if drop >= 0 {
					mu.Lock()
					hit[p[0].Timestamp] = "hit"
					mu.Unlock()
					p = append(append([]*rtp.Packet(nil), p[:drop]...), p[drop+1:]...)
				}
				return p
			}
			cam.start(t)
			cfg := testConfig(cam.url)
			cfg.Transport = transport
			r := read(t, cfg)
			harness.Until(t, "losses", func() bool { return r.src.Stats().LostPackets >= 3 })
			units := r.waitUnits(len(r.all()) + 20)
			damaged, whole := 0, 0
			for i, u := range units {
				if u.RandomAccess {
					require.False(t, u.Damaged, "a keyframe that counts is whole")
					whole++
				}
				if i > 0 && units[i-1].Damaged && !u.RandomAccess {
					require.True(t, u.Damaged, "unit %d follows a damaged one without a keyframe between", i)
				}
				if u.Damaged {
					damaged++
				}
			}
			require.Greater(t, damaged, 10)
			require.Greater(t, whole, 3)
			require.Equal(t, 1, newStreams(units), "loss needs no new stream")
			require.Equal(t, uint64(damaged), countDamaged(r.all()[:len(units)]))
		})
	}
}

func countDamaged(units []AccessUnit) uint64 {
	n := uint64(0)
	for _, u := range units {
		if u.Damaged {
			n++
		}
	}
	return n
}

// Closing a gortsplib client inside of its callback hangs for ever; a handler that ends the Source
// is such a callback.
func TestCancelInsideCallback(t *testing.T) {
	t.Parallel()
	cam := (&fakeCamera{clip: clip.Load(t, "plain.h264")}).start(t)
	src, ctx, cancel := newSource(t, testConfig(cam.url))
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = src.Run(ctx, Handler{OnUnit: func(AccessUnit) { cancel() }})
	}()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatal("Run hangs")
	}
	cam.left(TransportTCP)
}

// A panic in a callback costs a reconnect.
func TestPanicInHandler(t *testing.T) {
	t.Parallel()
	cam := (&fakeCamera{clip: clip.Load(t, "plain.h264")}).start(t)
	src, ctx, cancel := newSource(t, testConfig(cam.url))
	var once sync.Once
	var mu sync.Mutex
	var after int
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = src.Run(ctx, Handler{OnUnit: func(AccessUnit) {
			once.Do(func() { panic("boom") })
			mu.Lock()
			after++
			mu.Unlock()
		}})
	}()
	harness.Until(t, "units after the panic", func() bool { mu.Lock(); defer mu.Unlock(); return after > 5 })
	require.Equal(t, uint64(1), src.Stats().Panics)
	cancel()
	<-done
}

// A peer that accepts the connection and never says a word: with plain RTSP and with rtsps, whose
// handshake has no deadline in gortsplib.
func TestSilentPeer(t *testing.T) {
	t.Parallel()
	for scheme, want := range map[string]State{"rtsp": Unreachable, "rtsps": TLSError} {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			l := listen(t, func(net.Conn) {})
			cfg := testConfig(fmt.Sprintf("%s://%s/cam", scheme, l))
			cfg.ReadTimeout = 500 * time.Millisecond
			cfg.ConnectTimeout = 500 * time.Millisecond
			cfg.StaleAfter = time.Hour // and with it what the library waits for by itself
			r := read(t, cfg)
			st := r.waitState(want)
			require.Contains(t, st.Reason, "does not answer")
			r.stop()
		})
	}
}

// auto starts with TCP and takes UDP when the camera refuses with 461.
func TestAutoFallsBackToUDP(t *testing.T) {
	t.Parallel()
	cam := &fakeCamera{clip: clip.Load(t, "plain.h264"), udp: true}
	cam.onSetup = func(ctx *gortsplib.ServerHandlerOnSetupCtx) *base.Response {
		if ctx.Transport == gortsplib.TransportTCP {
			return &base.Response{StatusCode: base.StatusUnsupportedTransport}
		}
		return nil
	}
	cam.start(t)
	cfg := testConfig(cam.url)
	cfg.Transport = TransportAuto
	r := read(t, cfg)
	requireSane(t, r.waitUnits(10))
	require.Equal(t, "udp", r.src.Status().Transport)
	for _, st := range r.history() {
		require.Contains(t, []State{Connecting, Online}, st.State, "falling back is not a failure")
	}

	only := testConfig(cam.url) // tcp
	st := read(t, only).waitState(TransportRefused)
	require.Contains(t, st.Reason, "transport: auto")
}

// A camera that takes neither says so, and gets through again once its UDP packets are let through.
func TestAutoWithoutAnyTransport(t *testing.T) {
	t.Parallel()
	cam := &fakeCamera{clip: clip.Load(t, "plain.h264"), udp: true}
	cam.onSetup = func(ctx *gortsplib.ServerHandlerOnSetupCtx) *base.Response {
		if ctx.Transport == gortsplib.TransportTCP {
			return &base.Response{StatusCode: base.StatusUnsupportedTransport}
		}
		return nil
	}
	cam.start(t)
	cam.pause(true)
	cfg := testConfig(cam.url)
	cfg.Transport = TransportAuto
	r := read(t, cfg)
	st := r.waitState(TransportRefused)
	require.Contains(t, st.Reason, "neither by TCP nor by UDP")
	cam.pause(false)
	r.waitUnits(3)
}

// From UDP without packets (a firewall) auto goes back to TCP.
func TestAutoFallsBackToTCP(t *testing.T) {
	t.Parallel()
	cam := &fakeCamera{clip: clip.Load(t, "plain.h264"), udp: true}
	var mu sync.Mutex
	first := true
	cam.onSetup = func(ctx *gortsplib.ServerHandlerOnSetupCtx) *base.Response {
		mu.Lock()
		defer mu.Unlock()
		if ctx.Transport == gortsplib.TransportTCP && first {
			first = false
			return &base.Response{StatusCode: base.StatusUnsupportedTransport}
		}
		cam.pause(ctx.Transport == gortsplib.TransportUDP)
		return nil
	}
	cam.start(t)
	cfg := testConfig(cam.url)
	cfg.Transport = TransportAuto
	r := read(t, cfg)
	r.waitUnits(5)
	require.Equal(t, "tcp", r.src.Status().Transport)

	udp := testConfig(cam.url)
	udp.Transport = TransportUDP
	st := read(t, udp).waitState(TransportRefused)
	require.Contains(t, st.Reason, "no packet arrives by udp")
}

// Parameter sets may come in the stream only, and change at any time.
func TestParametersInBandAndChanging(t *testing.T) {
	t.Parallel()
	a, b := clip.Load(t, "plain.h264"), clip.Load(t, "small.h264")
	cam := &fakeCamera{clip: clip.Clip{Codec: string(H264),
		Units: append(append([][][]byte(nil), a.Units...), b.Units...)}, noParams: true}
	for i := range cam.clip.Units {
		cam.clip.Order = append(cam.clip.Order, i)
	}
	cam.start(t)
	r := read(t, testConfig(cam.url))
	units := r.waitUnits(70)
	width := 0
	for i, u := range units {
		require.Equal(t, u.Width != width, u.NewStream, "unit %d", i)
		width = u.Width
	}
	require.Greater(t, newStreams(units), 2)
	sizes := map[[2]int]bool{}
	for _, st := range r.history() {
		sizes[[2]int{st.Width, st.Height}] = true
	}
	require.True(t, sizes[[2]int{160, 120}] && sizes[[2]int{96, 80}], "the status follows: %v", sizes)
}

// A stream with gradual refresh has no IDR but the first; decoding starts at its recovery points.
func TestGradualRefresh(t *testing.T) {
	t.Parallel()
	cam := &fakeCamera{clip: clip.Load(t, "refresh.h264")}
	cam.packets = func(i int, p []*rtp.Packet) []*rtp.Packet {
		if i%20 == 0 { // the IDR
			return nil
		}
		return p
	}
	cam.start(t)
	r := read(t, testConfig(cam.url))
	units := r.waitUnits(20)
	requireSane(t, units)
	require.True(t, units[0].RandomAccess)
	require.True(t, units[0].Damaged, "not whole before the refresh has passed")
	harness.Until(t, "whole pictures", func() bool {
		for _, u := range r.all() {
			if !u.Damaged {
				return true
			}
		}
		return false
	})

}

// Over the packets of a session the clock jumps, and capture times stay at arrival.
func TestJumpingTimestamps(t *testing.T) {
	t.Parallel()
	for name, ticks := range map[string]func(int, uint32) uint32{
		"forward":   func(i int, v uint32) uint32 { return v + uint32(i/30)*3600*unit.TickRate },
		"backward":  func(i int, v uint32) uint32 { return v - uint32(i/30)*3600*unit.TickRate },
		"wrap":      func(_ int, v uint32) uint32 { return v - 60*unit.TickRate/40 },
		"standing":  func(int, uint32) uint32 { return 7 },
		"too fast":  func(_ int, v uint32) uint32 { return v * 3 },
		"too slow":  func(_ int, v uint32) uint32 { return v / 3 },
		"arbitrary": func(i int, _ uint32) uint32 { return uint32(i) * 2654435761 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cam := &fakeCamera{clip: clip.Load(t, "plain.h264"), ticks: ticks}
			cam.start(t)
			src, ctx, cancel := newSource(t, testConfig(cam.url))
			type seen struct{ taken, came time.Time }
			var mu sync.Mutex
			var all []seen
			done := make(chan struct{})
			go func() {
				defer close(done)
				_ = src.Run(ctx, Handler{OnUnit: func(u AccessUnit) {
					mu.Lock()
					all = append(all, seen{u.Time, time.Now()})
					mu.Unlock()
				}})
			}()
			harness.Until(t, "100 units", func() bool { mu.Lock(); defer mu.Unlock(); return len(all) >= 100 })
			cancel()
			<-done
			for i, s := range all {
				require.True(t, i == 0 || s.taken.After(all[i-1].taken), "unit %d", i)
				limit := 5 * time.Second // of a jump of an hour, on a machine that is busy
				if name == "too slow" {
					limit = 8 * time.Second
				}
				require.WithinDuration(t, s.came, s.taken, limit, "unit %d", i)
			}
			if name == "wrap" {
				require.Zero(t, src.Stats().ClampedTimes)
			} else if strings.HasPrefix(name, "too") { // followed without a jump
				require.LessOrEqual(t, src.Stats().Reanchored, uint64(2))
			} else {
				require.NotZero(t, src.Stats().ClampedTimes)
			}
		})
	}
}
