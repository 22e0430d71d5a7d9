package camera

import (
	"context"
	"testing"
	"time"

	"github.com/bluenviron/gortsplib/v4"
	"github.com/bluenviron/gortsplib/v4/pkg/auth"
	"github.com/bluenviron/gortsplib/v4/pkg/base"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"vmsbridge/agent/camera/clip"
)

func TestProbe(t *testing.T) {
	t.Parallel()
	cam := &fakeCamera{clip: clip.Load(t, "plain.h264"), udp: true,
		methods: []auth.VerifyMethod{auth.VerifyMethodDigestMD5}, user: "viewer", password: "secret"}
	cam.onSetup = func(ctx *gortsplib.ServerHandlerOnSetupCtx) *base.Response {
		if ctx.Transport == gortsplib.TransportTCP {
			return &base.Response{StatusCode: base.StatusUnsupportedTransport}
		}
		return nil
	}
	cam.start(t)
	cfg := testConfig(cam.url)
	cfg.Transport, cfg.Username, cfg.Password = TransportAuto, "viewer", "secret"
	began := time.Now()
	r, err := Probe(t.Context(), cfg)
	require.NoError(t, err)
	require.Equal(t, []Offer{{Kind: "video", Codec: "H.264", Supported: true}}, r.Offers)
	require.Equal(t, []any{H264, 160, 120, "udp", "digest", "gortsplib"},
		[]any{r.Codec, r.Width, r.Height, r.Transport, r.SignIn, r.Server})
	require.InDelta(t, 40, r.Rate, 4)
	require.InDelta(t, 250, r.Keyframes.Milliseconds(), 60)
	require.Positive(t, r.FirstUnit)
	require.Less(t, r.FirstUnit, time.Since(began)-probeFor)
	require.Len(t, r.Units, 50)
	requireSane(t, r.Units)
	cam.left(TransportUDP)
}

func TestProbeFails(t *testing.T) {
	t.Parallel()
	_, err := Probe(t.Context(), Config{URL: "http://x"})
	require.ErrorContains(t, err, "scheme must be rtsp or rtsps")

	var f *Failure
	r, err := Probe(t.Context(),
		testConfig("rtsp://"+script(t, describes(sdpHead+"m=video 0 RTP/AVP 96\r\na=rtpmap:96 AV1/90000\r\n"))+"/x"))
	require.ErrorAs(t, err, &f)
	require.Equal(t, UnsupportedCodec, f.State)
	require.Equal(t, []Offer{{Kind: "video", Codec: "AV1", Supported: false}}, r.Offers)

	cam := (&fakeCamera{clip: clip.Load(t, "plain.h264")}).start(t)
	cam.pause(true)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		for end := time.Now().Add(patience); cam.count(&cam.plays) == 0 && time.Now().Before(end); {
			<-time.After(5 * time.Millisecond)
		}
	}()
	r, err = Probe(ctx, testConfig(cam.url))
	require.ErrorAs(t, err, &f)
	require.Equal(t, NoKeyframe, f.State)
	require.Equal(t, []Offer{{Kind: "video", Codec: "H.264", Supported: true}}, r.Offers)
}

func TestConfigProblems(t *testing.T) {
	for _, tc := range []struct {
		cfg  Config
		want []string
	}{
		{Config{}, []string{"scheme must be"}},
		{Config{URL: "rtsp:///x"}, []string{"the host is missing"}},
		{Config{URL: "rtsp://u:p@h/x"}, []string{"do not belong into the URL"}},
		{Config{URL: "rtsp://h/x#y"}, []string{"fragments"}},
		{Config{URL: "rtsp://h/x", Transport: "carrier pigeon", TLS: TLS{Fingerprint: "ab"}, ReadTimeout: -1,
			Password: "a\nb"},
			[]string{"auto, tcp, udp or multicast", "64 digits", "must not be negative", "line breaks"}},
	} {
		_, err := New(tc.cfg, nil, nil)
		for _, w := range tc.want {
			require.ErrorContains(t, err, w)
		}
	}
}

func TestMetricsAreShared(t *testing.T) {
	t.Parallel()
	reg := prometheus.NewRegistry()
	m := NewMetrics(reg)
	m.add("gate", "main", Stats{}, Stats{Units: 5, LostPackets: 2})
	m.add("gate", "main", Stats{Units: 5, LostPackets: 2}, Stats{Units: 7, LostPackets: 2})
	m.add("yard", "main", Stats{}, Stats{Units: 1})
	m.setState("gate", "main", "", Connecting)
	m.setState("gate", "main", Connecting, Online)
	require.Equal(t, 7.0, testutil.ToFloat64(m.units.WithLabelValues("gate", "main")))
	require.Equal(t, 2.0, testutil.ToFloat64(m.lost.WithLabelValues("gate", "main")))
	require.Equal(t, 1.0, testutil.ToFloat64(m.units.WithLabelValues("yard", "main")))
	require.Equal(t, 1, testutil.CollectAndCount(m.state))
	m.setState("gate", "main", Online, "")
	require.Zero(t, testutil.CollectAndCount(m.state))
	problems, err := testutil.GatherAndLint(reg)
	require.NoError(t, err)
	require.Empty(t, problems)

	cam := (&fakeCamera{clip: clip.Load(t, "plain.h264")}).start(t)
	src, ctx, cancel := newSource(t, testConfig(cam.url))
	src.metrics = m
	r := run(t, src, ctx, cancel)
	r.waitUnits(5)
	require.Equal(t, 1.0, testutil.ToFloat64(m.state.WithLabelValues("gate", "main", "online")))
	r.stop()
	require.GreaterOrEqual(t, testutil.ToFloat64(m.units.WithLabelValues("gate", "main")), 12.0,
		"the last second is counted too")
}
