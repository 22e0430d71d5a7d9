package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/cmd/vmscloud/registry"
	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/server"
	"vmsbridge/uplink/tunnel"
	"vmsbridge/uplink/vms"
)

func newRegistry(t *testing.T) *registry.Registry {
	t.Helper()
	r, err := registry.Open(filepath.Join(t.TempDir(), registryFile))
	require.NoError(t, err)
	t.Cleanup(func() { _ = r.Close() })
	return r
}

func principal(account string) identity.Principal {
	return identity.Principal{Kind: identity.KindBridge, AccountID: account}
}

// imagesOf asks the bridge at an address for images of cam-1, and keeps what is logged.
func imagesOf(t *testing.T, address string) (*bridgeImages, *bytes.Buffer) {
	t.Helper()
	r := newRegistry(t)
	require.NoError(t,
		r.Register(t.Context(), principal("acc-1"),
			vms.Registration{ID: "bridge-1", Address: address, ImageToken: "im4ge",
				Cameras: []vms.RegisteredCamera{{ID: "cam-1"}}}))
	var log bytes.Buffer
	hub := tunnel.NewHub(0, nil)
	t.Cleanup(func() { require.NoError(t, hub.Close()) })
	b := newBridgeImages(r, hub, direct{netip.MustParsePrefix("127.0.0.0/8")}, slog.New(slog.NewTextHandler(&log, nil)))
	t.Cleanup(b.http.CloseIdleConnections)
	return b, &log
}

var wanted = server.ImageQuery{Account: "acc-1", Camera: "cam-1", Kind: vms.ImageMain, Op: vms.OpBefore, Time: began}

var jpeg = append([]byte{0xff, 0xd8, 0xff}, bytes.Repeat([]byte{7}, 300_000)...)

func TestImageIsPassedOn(t *testing.T) {
	var asked *http.Request
	bridge := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r
		w.Header().Set("X-Vms-Timestamp", vms.At(began.Add(-time.Second)).String())
		_, _ = w.Write(jpeg)
	}))
	defer bridge.Close()
	b, _ := imagesOf(t, bridge.URL+"/base/")
	for range 3 * maxPerBridge { // every slot is given back
		img, err := b.Image(t.Context(), wanted)
		require.NoError(t, err)
		got, err := io.ReadAll(img.Body)
		require.NoError(t, err)
		require.NoError(t, img.Body.Close())
		require.Equal(t, jpeg, got)
		require.Equal(t, began.Add(-time.Second), img.Time)
	}
	require.Equal(t, "/base/api/v3.0/media/recordedImage.jpeg", asked.URL.Path)
	require.Equal(t, "Bearer im4ge", asked.Header.Get("Authorization"))
	require.Equal(t, "main", asked.URL.Query().Get("type"))
	require.Equal(t, "2026-11-21T07:00:00.000+00:00", asked.URL.Query().Get("timestamp__lt"))
	require.Empty(t, b.busy)
}

// An image that the client has already does not travel from the bridge again. One that says so of
// another image is not believed.
func TestAnImageThatIsKnownIsNotFetched(t *testing.T) {
	taken, sent := began.Add(-time.Second), 0
	bridge := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Vms-Timestamp", vms.At(taken).String())
		if r.Header.Get("If-None-Match") == vms.ImageTag(vms.ImageMain, began.Add(-time.Second), "") {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		sent++
		_, _ = w.Write(jpeg)
	}))
	defer bridge.Close()
	b, log := imagesOf(t, bridge.URL)
	q := wanted
	q.Known = taken
	for range 3 * maxPerBridge { // every slot is given back
		img, err := b.Image(t.Context(), q)
		require.NoError(t, err)
		require.Equal(t, taken, img.Time)
		require.NoError(t, img.Body.Close())
	}
	require.Zero(t, sent)
	q.Known = began.Add(-time.Hour)
	img, err := b.Image(t.Context(), q)
	require.NoError(t, err)
	got, err := io.ReadAll(img.Body)
	require.NoError(t, errors.Join(err, img.Body.Close()))
	require.Equal(t, jpeg, got)
	q.Known, taken = taken, began.Add(-time.Minute)
	_, err = b.Image(t.Context(), q)
	require.ErrorContains(t, err, "does not answer at the moment")
	require.Contains(t, log.String(), "it names another image than it was asked about")
}

func TestImageRefusals(t *testing.T) {
	thief := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("the redirect was followed")
	}))
	defer thief.Close()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	body := func(e *vms.Error) string {
		raw, err := json.Marshal(e)
		require.NoError(t, err)
		return string(raw)
	}
	stamp := vms.At(began).String()
	answer := func(code int, body string, header ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			for i := 0; i < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(code)
			_, _ = io.WriteString(w, body)
		}
	}
	for name, c := range map[string]struct {
		bridge http.HandlerFunc // nil: it is away
		code   int
		reason string
		words  string
	}{
		"never recorded": {answer(404,
			body(vms.NotFound("images", "no image: the camera was offline", "cam-1"))), 404, vms.ReasonResource,
			"the camera was offline"},
		"words for a terminal": {answer(404, body(vms.NotFound("images", "a\x1b[31mb"+strings.Repeat("x", 5000)))),
			404, vms.ReasonResource, "a [31mb"},
		"away": {nil, 503, vms.ReasonDeviceUnavailable, ""},
		"no such endpoint": {answer(404, body(vms.NewError(404, vms.ReasonEndpoint, "x"))), 503,
			vms.ReasonDeviceUnavailable, ""},
		"404 of something else": {answer(404, "<html>"), 503, vms.ReasonDeviceUnavailable, ""},
		"its token has changed": {answer(401, ""), 503, vms.ReasonDeviceUnavailable, ""},
		"500":                   {answer(500, "boom"), 503, vms.ReasonDeviceUnavailable, ""},
		"redirect":              {answer(302, "", "Location", thief.URL), 503, vms.ReasonDeviceUnavailable, ""},
		"no time":               {answer(200, string(jpeg)), 503, vms.ReasonDeviceUnavailable, ""},
		"no JPEG": {answer(200, "<html>secret of another server</html>", "X-Vms-Timestamp", stamp), 503,
			vms.ReasonDeviceUnavailable, ""},
		"empty": {answer(200, "", "X-Vms-Timestamp", stamp), 503, vms.ReasonDeviceUnavailable, ""},
		"said to be huge": {answer(200, "", "X-Vms-Timestamp", stamp, "Content-Length", "999999999"), 503,
			vms.ReasonDeviceUnavailable, ""},
		"hangs up": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, 503,
			vms.ReasonDeviceUnavailable, ""},
	} {
		t.Run(name, func(t *testing.T) {
			address := gone.URL
			if c.bridge != nil {
				s := httptest.NewServer(c.bridge)
				defer s.Close()
				address = s.URL
			}
			b, log := imagesOf(t, address)
			_, err := b.Image(t.Context(), wanted)
			var e *vms.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, c.code, e.Code)
			require.Equal(t, c.reason, e.Reason())
			require.Contains(t, e.Message, c.words)
			require.Less(t, len(e.Message), 400)
			for _, text := range []string{e.Message, log.String()} {
				require.NotContains(t, text, "im4ge")
				require.NotContains(t, text, "secret of another server")
			}
			require.NotContains(t, e.Message, "127.0.0.1", "where bridges are is nobody's business")
			require.Empty(t, b.busy)
		})
	}
}

func TestImageOfUnknownCamera(t *testing.T) {
	b, _ := imagesOf(t, "")
	var e *vms.Error
	_, err := b.Image(t.Context(), wanted)
	require.ErrorAs(t, err, &e)
	require.Equal(t, 503, e.Code, "the bridge gave no address")
	for _, q := range []server.ImageQuery{{Account: "acc-1", Camera: "cam-2"}, {Account: "acc-2", Camera: "cam-1"},
		{Account: "acc-1", Camera: "bridge-1"}} {
		_, err = b.Image(t.Context(), q)
		require.ErrorAs(t, err, &e)
		require.Equal(t, 404, e.Code)
	}
}

// A slow bridge takes up its own slots only, and gives them back when the client goes.
func TestImageSlots(t *testing.T) {
	var open atomic.Int32
	release := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		open.Add(1)
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}))
	defer slow.Close()
	b, _ := imagesOf(t, slow.URL)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, maxPerBridge)
	for range maxPerBridge {
		go func() {
			_, err := b.Image(ctx, wanted)
			done <- err
		}()
	}
	require.Eventually(t, func() bool { return open.Load() == maxPerBridge }, time.Minute, time.Millisecond)
	_, err := b.Image(t.Context(), wanted)
	var e *vms.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, 429, e.Code)
	cancel()
	for range maxPerBridge {
		require.Error(t, <-done)
	}
	require.Empty(t, b.busy)
	close(release)
}

func TestLimited(t *testing.T) {
	got, err := io.ReadAll(&limited{strings.NewReader("12345"), 6})
	require.NoError(t, err)
	require.Equal(t, "12345", string(got))
	got, err = io.ReadAll(&limited{strings.NewReader("12345"), 4})
	require.ErrorContains(t, err, "too large")
	require.Equal(t, "1234", string(got))
}

// Bridges are asked within the operator's ranges only, and never where no bridge can be.
func TestDirectAddresses(t *testing.T) {
	all, err := prefixes("--direct", []string{"0.0.0.0/0", "::/0"})
	require.NoError(t, err)
	site, err := prefixes("--direct", []string{"10.0.0.0/8", "127.0.0.1", "fd00::/8"})
	require.NoError(t, err)
	for address, want := range map[string][3]bool{ // whether all, site and no ranges allow it
		"192.168.1.20:8480": {true, false}, "10.0.0.1:80": {true, true}, "127.0.0.1:8480": {true, true},
		"127.0.0.2:8480": {true, false},
		"[::1]:1":        {true, false}, "93.184.216.34:443": {true, false}, "[fd00::1]:80": {true, true},
		"[::ffff:10.0.0.1]:80": {true, true}, "[::ffff:127.0.0.2]:80": {true, false},
		"169.254.169.254:80": {}, "[::ffff:169.254.169.254]:80": {}, "169.254.1.1:80": {}, "0.0.0.0:80": {},
		"[::]:80": {}, "224.0.0.1:80": {}, "255.255.255.255:80": {},
		"[fe80::1]:1": {}, "[fe80::1%eth0]:1": {}, "[ff02::1]:1": {}, "[fd00:ec2::254]:80": {},
		"100.100.100.200:80": {}, "168.63.129.16:80": {},
		"[64:ff9b::a9fe:a9fe]:80": {}, "[64:ff9b::a00:1]:80": {}, "[64:ff9b:1::1]:80": {}, "[2002:a9fe:a9fe::1]:80": {},
		"[::a9fe:a9fe]:80": {}, "x": {},
	} {
		got := [3]bool{direct(all).control("tcp", address, nil) == nil,
			direct(site).control("tcp", address, nil) == nil, direct(nil).control("tcp", address, nil) == nil}
		require.Equal(t, want, got, address)
	}
	require.Empty(t, direct(site).unasked(""))
	require.Empty(t, direct(site).unasked("http://10.0.0.1:8480"))
	require.Empty(t, direct(site).unasked("http://bridge.example:8480"), "where a name leads to is found out later")
	require.Contains(t, direct(site).unasked("http://192.168.1.1:8480"), "192.168.1.1 lies in no range of --direct")
	require.Contains(t, direct(all).unasked("http://[64:ff9b::a9fe:a9fe]"), "cannot be a bridge")
	require.Contains(t, direct(nil).unasked("http://10.0.0.1:8480"), "--direct RANGE")
	_, err = prefixes("--direct", []string{"nonsense"})
	require.ErrorContains(t, err, `--direct "nonsense"`)

	// It is asked for every connection, with the name resolved.
	b, _ := imagesOf(t, "http://localhost:1")
	b = newBridgeImages(b.registry, b.hub, direct(all[1:]), b.log)
	for _, address := range []string{"http://localhost:1/", "http://0.0.0.0:1/"} {
		_, err = b.http.Get(address)
		require.Error(t, err)
		require.Regexp(t, "cannot be a bridge|lies in no range|refused", err.Error())
	}
	var op *net.OpError
	require.True(t, errors.As(err, &op))
}

// Without a range of the operator's the service calls nobody, whatever a bridge names, and says so
// to the bridge.
func TestTheServiceCallsNobodyUntold(t *testing.T) {
	t.Parallel()
	var called atomic.Int32
	inner := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		called.Add(1)
		w.Header().Set("X-Vms-Timestamp", vms.At(began).String())
		_, _ = w.Write(jpeg)
	}))
	defer inner.Close()
	for name, c := range map[string]struct {
		args []string
		want int
		told string
	}{
		"as it comes":      {nil, 503, "through their tunnels only"},
		"another range":    {[]string{"--direct", "10.0.0.0/8"}, 503, "127.0.0.1 lies in no range"},
		"the bridge's one": {[]string{"--direct", "10.0.0.0/8", "--direct", "127.0.0.1"}, 200, ""},
	} {
		data := filepath.Join(t.TempDir(), "data")
		must(t, "init", "--data", data, "--account", "demo", "--quiet")
		p := startProcess(t, data, append([]string{"--listen", "127.0.0.1:0"}, c.args...)...)
		b := clientOf(t, p.base, must(t, "token", "create", "--data", data, "--kind", "bridge", "--quiet"))
		require.NoError(t,
			b.Register(t.Context(), vms.Registration{ID: "bridge", Address: inner.URL, ImageToken: "im4ge",
				Cameras: []vms.RegisteredCamera{{ID: "cam-1"}}}))
		if c.told == "" {
			require.Empty(t, b.Said().AddressUnasked, name)
		}
		require.Contains(t, b.Said().AddressUnasked, c.told, name)
		called.Store(0)
		_, _, err := b.Image(t.Context(), "cam-1", vms.ImagePreview, vms.OpBefore, began.Add(time.Hour))
		if c.want == 200 {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, "503", name)
		require.Zero(t, called.Load(), name)
	}
}
