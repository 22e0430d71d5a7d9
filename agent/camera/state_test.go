package camera

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"math/big"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bluenviron/gortsplib/v4/pkg/base"
	"github.com/pion/rtp"
	"github.com/stretchr/testify/require"

	"vmsbridge/agent/camera/clip"
	"vmsbridge/scripts/harness"
)

const sdpHead = "v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=cam\r\nt=0 0\r\n"

// What is wrong is named, with what to do.
func TestStates(t *testing.T) {
	for _, tc := range []struct {
		name   string
		answer func(*base.Request) *base.Response
		want   State
		reason string
	}{
		{"not found", status(404), NotFound, "knows no stream at this path"},
		{"forbidden", status(403), Refused, "right to view live video"},
		{"busy", status(453), Refused, "Close other viewers"},
		{"unavailable", status(503), Refused, "Close other viewers"},
		{"other code", status(499), Refused, "499 Code 499"},
		{"unknown sign-in", func(*base.Request) *base.Response {
			return &base.Response{StatusCode: 401,
				Header: base.Header{"WWW-Authenticate": base.HeaderValue{`Negotiate`}}}
		}, Refused, "kind of sign-in"},
		{"401 without a challenge", func(*base.Request) *base.Response {
			return &base.Response{StatusCode: 401}
		}, Refused, "kind of sign-in"},
		{"hangs up", func(*base.Request) *base.Response { return nil }, Disconnected, "closed the connection"},
		{"garbage description", describes("\x00\xff\x13garbage"), NoVideo, "cannot be read"},
		{"web page", func(req *base.Request) *base.Response {
			r := ok(nil)
			if req.Method == base.Describe {
				r.Header["Content-Type"], r.Body = base.HeaderValue{"text/html"}, []byte("<html>")
			}
			return r
		}, NoVideo, "cannot be read"},
		{"empty description", describes(""), NoVideo, "cannot be read"},
		{"no media", describes(sdpHead), NoVideo, "without video"},
		{"audio only", describes(sdpHead + "m=audio 0 RTP/AVP 0\r\n"), NoVideo, "only audio (PCMU)"},
		{"AV1", describes(sdpHead + "m=video 0 RTP/AVP 96\r\na=rtpmap:96 AV1/90000\r\n"), UnsupportedCodec,
			"sends AV1"},
		{"MPEG-4", describes(sdpHead + "m=video 0 RTP/AVP 96\r\na=rtpmap:96 MP4V-ES/90000\r\n"), UnsupportedCodec,
			"MPEG-4 Visual"},
		{"unknown codec", describes(sdpHead + "m=video 0 RTP/AVP 97\r\na=rtpmap:97 X-SECRET/1\r\n"), UnsupportedCodec,
			"X-SECRET"},
		{"packetization mode 2", describes(sdpHead + "m=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\na=fmtp:96 " +
			"packetization-mode=2\r\n"),
			UnsupportedCodec, "packs its h264 stream"},
		{"hostile control", describes(sdpHead + "m=video 0 RTP/AVP 26\r\na=control:%zz\r\n"), NoVideo,
			"address that cannot be read"},
		{"refused setup", describes(sdpHead + "m=video 0 RTP/AVP 26\r\na=control:1\r\n"), Refused,
			"refused SETUP (455"},
		{"redirect elsewhere", func(req *base.Request) *base.Response {
			if req.Method == base.Options {
				return ok(nil)
			}
			return &base.Response{StatusCode: 302,
				Header: base.Header{"Location": base.HeaderValue{"rtsp://192.0.2.1/cam"}}}
		}, Refused, "another host (192.0.2.1:554)"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			cfg := testConfig("rtsp://" + script(t, tc.answer) + "/cam")
			cfg.Username, cfg.Password = "viewer", "secret"
			r := read(t, cfg)
			st := r.waitState(tc.want)
			require.Contains(t, st.Reason, tc.reason)
			require.NotZero(t, st.Since)
			require.Equal(t, Connecting, r.history()[0].State)
		})
	}
}

// A redirect to itself for ever ends.
func TestRedirectLoop(t *testing.T) {
	t.Parallel()
	var address string
	address = script(t, func(req *base.Request) *base.Response {
		if req.Method == base.Options {
			return ok(nil)
		}
		return &base.Response{StatusCode: 302,
			Header: base.Header{"Location": base.HeaderValue{"rtsp://" + address + "/cam"}}}
	})
	r := read(t, testConfig("rtsp://"+address+"/cam"))
	harness.Until(t, "a failure", func() bool { return len(r.history()) > 1 })
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := l.Addr().String()
	require.NoError(t, l.Close())
	st := read(t, testConfig("rtsp://"+address+"/cam")).waitState(Unreachable)
	require.Contains(t, st.Reason, "connection is refused")
	require.Equal(t, "deviceOffline", st.State.Connection())

	st = read(t, testConfig("rtsp://no-such-camera.invalid/cam")).waitState(Unreachable)
	require.Contains(t, st.Reason, "cannot be resolved")
}

// Pictures are back within five seconds after a camera returns, however long it was gone.
func TestReturnsWithinFiveSeconds(t *testing.T) {
	t.Parallel()
	cam := (&fakeCamera{clip: clip.Load(t, "plain.h264")}).start(t)
	address := strings.TrimSuffix(strings.TrimPrefix(cam.url, "rtsp://"), "/cam")
	r := read(t, testConfig(cam.url))
	r.waitUnits(5)
	cam.stop()
	r.waitState(Unreachable)
	gone := time.Now()
	harness.Until(t, "7 s without a camera", func() bool { return time.Since(gone) > 7*time.Second })
	n := len(r.all())
	cam.open(address)
	back := time.Now()
	r.waitUnits(n + 1)
	require.Less(t, time.Since(back), 5*time.Second)
	units := r.waitUnits(n + 5)
	requireSane(t, units)
	require.True(t, units[n].NewStream)
	require.True(t, units[n].Time.After(units[n-1].Time))
	require.NotZero(t, r.src.Stats().Reconnects)
}

// A camera that falls silent is noticed and connected again: soon if it used to send often, at
// StaleAfter otherwise.
func TestStale(t *testing.T) {
	t.Parallel()
	cam := (&fakeCamera{clip: clip.Load(t, "plain.h264")}).start(t)
	cfg := testConfig(cam.url)
	cfg.StaleAfter = 30 * time.Second
	r := read(t, cfg)
	r.waitUnits(10)
	cam.pause(true)
	st := r.waitState(Stale)
	units := r.all()
	require.Greater(t, time.Since(units[len(units)-1].Time), 4*time.Second)
	require.Contains(t, st.Reason, "No picture has come")
	cam.pause(false)
	n := newStreams(r.all())
	harness.Until(t, "a new stream", func() bool { return newStreams(r.all()) > n })
}

func TestSilentAfterPlay(t *testing.T) {
	t.Parallel()
	cam := (&fakeCamera{clip: clip.Load(t, "plain.h264")}).start(t)
	cam.pause(true)
	cfg := testConfig(cam.url)
	cfg.StaleAfter = time.Second
	require.Contains(t, read(t, cfg).waitState(Stale).Reason, "sends nothing")
}

// Packets without keyframes, and packets that are no video, have their own states; the session is
// kept for when they come.
func TestNoKeyframe(t *testing.T) {
	t.Parallel()
	t.Run("no IDR", func(t *testing.T) {
		t.Parallel()
		cam := &fakeCamera{clip: clip.Load(t, "plain.h264")}
		var whole atomic.Bool
		cam.packets = func(i int, p []*rtp.Packet) []*rtp.Packet {
			if i%10 == 0 && !whole.Load() {
				return nil
			}
			return p
		}
		cam.start(t)
		cfg := testConfig(cam.url)
		cfg.KeyframeAfter = 2 * time.Second // six times that until the session is given up
		r := read(t, cfg)
		st := r.waitState(NoKeyframe)
		require.Contains(t, st.Reason, "Set a keyframe")
		require.Empty(t, r.all(), "nothing that cannot be decoded is handed on")
		whole.Store(true)
		r.waitUnits(5)
		require.Equal(t, Online, r.src.Status().State)
		require.Equal(t, uint64(0), r.src.Stats().Reconnects, "the same session")
	})
	t.Run("no parameter sets", func(t *testing.T) {
		t.Parallel()
		cam := &fakeCamera{clip: clip.Load(t, "plain.h264"), noParams: true}
		for i, au := range cam.clip.Units {
			var keep [][]byte
			for _, n := range au {
				if typ := n[0] & 0x1F; typ != 7 && typ != 8 {
					keep = append(keep, n)
				}
			}
			cam.clip.Units[i] = keep
		}
		cam.start(t)
		cfg := testConfig(cam.url)
		cfg.KeyframeAfter = time.Second
		require.Contains(t, read(t, cfg).waitState(NoKeyframe).Reason, "SPS, PPS")
	})
	t.Run("garbage", func(t *testing.T) {
		t.Parallel()
		cam := &fakeCamera{clip: clip.Load(t, "plain.h264")}
		cam.packets = func(_ int, p []*rtp.Packet) []*rtp.Packet {
			for i := range p {
				_, _ = rand.Read(p[i].Payload)
				p[i].Payload[0] = 0x7C // fragments of nothing
				p[i].Payload[1] &= 0x7F
			}
			return p
		}
		cam.start(t)
		cfg := testConfig(cam.url)
		cfg.KeyframeAfter, cfg.StaleAfter = time.Second, 3*time.Second
		r := read(t, cfg)
		harness.Until(t, "a state that says so", func() bool {
			for _, st := range r.history() {
				if st.State == NoKeyframe || st.State == Stale {
					return true
				}
			}
			return false
		})

	})
}

// certificate is self-made, as most cameras' are.
func certificate(t *testing.T) (tls.Certificate, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{SerialNumber: big.NewInt(1),
		NotAfter: time.Now().Add(time.Hour)},
		&x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}, &key.PublicKey, key)
	require.NoError(t, err)
	sum := sha256.Sum256(der)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, hex.EncodeToString(sum[:])
}

func TestTLS(t *testing.T) {
	t.Parallel()
	cert, print := certificate(t)
	cam := (&fakeCamera{clip: clip.Load(t, "plain.h264"), udp: true,
		tls: &tls.Config{Certificates: []tls.Certificate{cert}}}).start(t)

	st := read(t, testConfig(cam.url)).waitState(TLSError)
	require.Contains(t, st.Reason, "tls_fingerprint: "+print)

	wrong := testConfig(cam.url)
	wrong.TLS.Fingerprint = strings.Repeat("ab", 32)
	require.Contains(t, read(t, wrong).waitState(TLSError).Reason, print)

	for _, trust := range []TLS{{InsecureSkipVerify: true}, {Fingerprint: strings.ToUpper(print)}} {
		for _, transport := range []string{TransportTCP, TransportAuto, TransportUDP} {
			cfg := testConfig(cam.url)
			cfg.TLS, cfg.Transport = trust, transport
			r := read(t, cfg)
			requireSane(t, r.waitUnits(3))
			// UDP by SRTP
			want := map[string]string{TransportTCP: "tls+tcp", TransportAuto: "tls+tcp",
				TransportUDP: "tls+udp"}[transport]
			require.Equal(t, want, r.src.Status().Transport)
		}
	}

	plain := (&fakeCamera{clip: clip.Load(t, "plain.h264")}).start(t)
	cfg := testConfig(strings.Replace(plain.url, "rtsp://", "rtsps://", 1))
	cfg.ReadTimeout = time.Second
	read(t, cfg).waitState(TLSError)
}

// Multicast, where this machine lets a group be joined on the loopback interface.
func TestMulticast(t *testing.T) {
	t.Parallel()
	cam := (&fakeCamera{clip: clip.Load(t, "plain.h264"), multicast: true}).start(t)
	cfg := testConfig(cam.url)
	cfg.Transport = TransportMulticast
	r := read(t, cfg)
	end := time.Now().Add(5 * time.Second)
	for len(r.all()) < 5 {
		if time.Now().After(end) {
			t.Skipf("multicast does not work on this machine: %+v", r.history())
		}
		<-time.After(10 * time.Millisecond)
	}
	requireSane(t, r.all())
	require.Equal(t, "multicast", r.src.Status().Transport)
}
