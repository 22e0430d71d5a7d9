package camera

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bluenviron/gortsplib/v4/pkg/auth"
	"github.com/bluenviron/gortsplib/v4/pkg/base"
	"github.com/stretchr/testify/require"

	"vmsbridge/agent/camera/clip"
	"vmsbridge/scripts/harness"
)

const oddPassword = "p@ss:w/o%rd ü\"'\\#?&"

func TestSignsIn(t *testing.T) {
	for _, tc := range []struct {
		name     string
		methods  []auth.VerifyMethod
		user, pw string
		basic    bool
	}{
		{"digest md5", []auth.VerifyMethod{auth.VerifyMethodDigestMD5}, "viewer", "secret", false},
		{"digest sha-256", []auth.VerifyMethod{auth.VerifyMethodDigestSHA256}, "viewer", "secret", false},
		{"digest before basic", []auth.VerifyMethod{auth.VerifyMethodBasic, auth.VerifyMethodDigestMD5}, "viewer",
			"secret", false},
		{"odd characters, digest", []auth.VerifyMethod{auth.VerifyMethodDigestMD5}, "vi:ew@er %20/ü", oddPassword,
			false},
		{"odd characters, sha-256", []auth.VerifyMethod{auth.VerifyMethodDigestSHA256}, "vi:ew@er %20/ü", oddPassword,
			false},
		{"odd characters, basic", []auth.VerifyMethod{auth.VerifyMethodBasic}, "vi@ew%er ü/",
			strings.ReplaceAll(oddPassword, ":", ""), true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			cam := (&fakeCamera{clip: clip.Load(t, "plain.h264"), methods: tc.methods, user: tc.user,
				password: tc.pw}).start(t)
			cfg := testConfig(cam.url)
			cfg.Username, cfg.Password, cfg.AllowInsecureBasic = tc.user, tc.pw, tc.basic
			requireSane(t, read(t, cfg).waitUnits(5))
		})
	}
}

// Wrong credentials are tried once and then left alone for half a minute, also by auto, which has
// two transports to try.
func TestWrongCredentials(t *testing.T) {
	t.Parallel()
	cam := (&fakeCamera{clip: clip.Load(t, "plain.h264"), methods: []auth.VerifyMethod{auth.VerifyMethodDigestMD5},
		user: "viewer", password: "right"}).start(t)
	cfg := testConfig(cam.url)
	cfg.Transport = TransportAuto
	cfg.Username, cfg.Password = "viewer", "wrong"
	r := read(t, cfg)
	st := r.waitState(InvalidCredentials)
	require.Contains(t, st.Reason, "Check username and password")
	require.Equal(t, "invalidCredentials", st.State.Connection())

	none := testConfig(cam.url)
	st = read(t, none).waitState(InvalidCredentials)
	require.Contains(t, st.Reason, "asks for a user name")

	<-time.After(2500 * time.Millisecond) // long enough for two ordinary retries
	require.Equal(t, 1, cam.count(&cam.failures))
}

// A camera, or a man in the middle, that offers only Basic gets no password over plain RTSP, unless
// that is allowed.
func TestBasicDowngrade(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var authorizations []string
	address := script(t, func(req *base.Request) *base.Response {
		mu.Lock()
		defer mu.Unlock()
		authorizations = append(authorizations, req.Header["Authorization"]...)
		if req.Method == base.Options {
			return ok(nil)
		}
		return &base.Response{StatusCode: base.StatusUnauthorized,
			Header: base.Header{"WWW-Authenticate": base.HeaderValue{`Basic realm="cam"`}}}
	})
	cfg := testConfig("rtsp://" + address + "/cam")
	cfg.Username, cfg.Password = "viewer", "secret"
	st := read(t, cfg).waitState(InsecureSignIn)
	require.Contains(t, st.Reason, "allow_insecure_basic: true")
	mu.Lock()
	require.Empty(t, authorizations)
	mu.Unlock()

	cfg.AllowInsecureBasic = true
	read(t, cfg).waitState(InvalidCredentials)
	mu.Lock()
	defer mu.Unlock()
	require.Equal(t, []string{"Basic " + base64.StdEncoding.EncodeToString([]byte("viewer:secret"))}, authorizations)
}

// The user name is escaped and the opaque value returned, as RFC 7616 wants it; checked by a parser
// of our own, because gortsplib's server does neither. A scheme in odd spelling is understood.
func TestDigestHeader(t *testing.T) {
	t.Parallel()
	user := `a"b\c`
	var mu sync.Mutex
	verified := 0
	address := script(t, func(req *base.Request) *base.Response {
		h := req.Header["Authorization"]
		if len(h) == 0 {
			return &base.Response{StatusCode: base.StatusUnauthorized, Header: base.Header{
				"WWW-Authenticate": base.HeaderValue{`DIGEST realm="cam", nonce="n1", Opaque="o/1", stale=FALSE`}}}
		}
		kv := parseDigest(h[0])
		ha := func(s string) string { sum := md5.Sum([]byte(s)); return hex.EncodeToString(sum[:]) }
		want := ha(ha(user+":cam:"+oddPassword) + ":n1:" + ha(string(req.Method)+":"+kv["uri"]))
		mu.Lock()
		defer mu.Unlock()
		if kv["username"] == user && kv["opaque"] == "o/1" && kv["response"] == want {
			verified++
		}
		return &base.Response{StatusCode: base.StatusNotFound}
	})
	cfg := testConfig("rtsp://" + address + "/cam")
	cfg.Username, cfg.Password = user, oddPassword
	read(t, cfg).waitState(NotFound)
	mu.Lock()
	defer mu.Unlock()
	require.NotZero(t, verified)
}

// A camera that signed us in and then refuses with the same credentials (its nonce ran out) is no
// case of wrong ones: it is asked again at once, then in ordinary intervals.
func TestRefusedAfterSignIn(t *testing.T) {
	t.Parallel()
	challenge := base.Header{"WWW-Authenticate": base.HeaderValue{`Digest realm="cam", nonce="n1"`}}
	var mu sync.Mutex
	setups := 0
	address := script(t, func(req *base.Request) *base.Response {
		switch {
		case req.Method == base.Options:
			return ok(nil)
		case req.Header["Authorization"] == nil:
			return &base.Response{StatusCode: base.StatusUnauthorized,
				Header: base.Header{"WWW-Authenticate": challenge["WWW-Authenticate"]}}
		case req.Method == base.Describe:
			return ok([]byte(sdpHead + "m=video 0 RTP/AVP 26\r\na=control:1\r\n"))
		}
		mu.Lock()
		defer mu.Unlock()
		setups++
		return &base.Response{StatusCode: base.StatusUnauthorized,
			Header: base.Header{"WWW-Authenticate": challenge["WWW-Authenticate"]}}
	})
	cfg := testConfig("rtsp://" + address + "/cam")
	cfg.Username, cfg.Password = "viewer", "secret"
	st := read(t, cfg).waitState(Refused)
	require.Contains(t, st.Reason, "signed us in and then refused SETUP")
	harness.Until(t, "another attempt", func() bool { mu.Lock(); defer mu.Unlock(); return setups >= 2 })
}

// parseDigest reads quoted strings with escapes.
func parseDigest(h string) map[string]string {
	out := map[string]string{}
	s := strings.TrimPrefix(h, "Digest ")
	for s != "" {
		name, rest, _ := strings.Cut(s, "=")
		var v strings.Builder
		i := 1
		for ; i < len(rest) && rest[i] != '"'; i++ {
			if rest[i] == '\\' {
				i++
			}
			v.WriteByte(rest[i])
		}
		out[strings.TrimSpace(name)] = v.String()
		s = strings.TrimLeft(rest[min(i+1, len(rest)):], ", ")
	}
	return out
}

// Nothing that is logged, reported or returned holds the password, even when the camera repeats it.
func TestNoSecretsLeak(t *testing.T) {
	t.Parallel()
	const password = "hunter2-ü%/:@"
	var logged bytes.Buffer
	var mu sync.Mutex
	log := slog.New(slog.NewTextHandler(writerFunc(func(b []byte) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		return logged.Write(b)
	}), &slog.HandlerOptions{Level: slog.LevelDebug}))
	replies := []*base.Response{
		{StatusCode: 499, StatusMessage: "go away " + password},
		{StatusCode: base.StatusUnauthorized,
			Header: base.Header{"WWW-Authenticate": base.HeaderValue{"Digest realm=\"" + password +
				"\", nonce=\"x\""}}},
		{StatusCode: base.StatusMovedPermanently,
			Header: base.Header{"Location": base.HeaderValue{"rtsp://viewer:hunter2@elsewhere.test/" + password}}},
		{StatusCode: base.StatusOK, Header: base.Header{"Content-Type": base.HeaderValue{password}},
			Body: []byte(password)},
	}
	for i, reply := range replies {
		address := script(t, func(req *base.Request) *base.Response {
			if req.Method == base.Options {
				return ok(nil)
			}
			c := *reply
			c.Header = base.Header{}
			for k, v := range reply.Header {
				c.Header[k] = v
			}
			return &c
		})
		cfg := testConfig("rtsp://" + address + "/cam")
		cfg.Username, cfg.Password = "viewer", password
		src, err := New(cfg, log, nil)
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(context.Background())
		var reasons []string
		done := make(chan struct{})
		got := make(chan struct{}, 100)
		go func() {
			defer close(done)
			_ = src.Run(ctx, Handler{OnStatus: func(s Status) {
				reasons = append(reasons, s.Reason)
				if s.Reason != "" {
					got <- struct{}{}
				}
			}})
		}()
		<-got
		cancel()
		<-done
		_, err = Probe(t.Context(), cfg)
		require.Error(t, err)
		log.Info("all", "config", cfg, "text", fmt.Sprintf("%v %+v %#v %s", cfg, cfg, cfg, cfg), "error", err)
		require.NotContains(t, strings.Join(reasons, " "), "hunter2", "reply %d", i)
	}
	bad := Config{URL: "rtsp://viewer:hunter2@host/x"}
	_, err := New(bad, log, nil)
	require.Error(t, err)
	log.Info("bad", "config", bad, "error", err)
	bad = Config{URL: "rtsp://host/user=admin&password=hunter2&channel=1?pwd=hunter2", Transport: "x"}
	_, err = New(bad, log, nil)
	require.Error(t, err)
	log.Info("bad", "config", bad, "error", err)
	_, err = New(Config{URL: "rtsp://viewer:hunter2@ho st/%zz"}, log, nil)
	require.Error(t, err)
	log.Info("bad", "error", err)
	mu.Lock()
	defer mu.Unlock()
	require.NotContains(t, logged.String(), "hunter2")
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }
