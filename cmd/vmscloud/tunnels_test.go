package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/client"
	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/tunnel"
	"vmsbridge/uplink/vms"
)

// dialHub keeps a tunnel for a bridge of an account to a hub until stop is called.
func dialHub(t *testing.T, b *bridgeImages, account, bridge string, handler http.Handler) (d *tunnel.Dialer,
	stop func()) {
	t.Helper()
	serve := tunnels{registry: b.registry, hub: b.hub}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := serve.Serve(w, r, principal(account), r.URL.Query().Get(tunnel.BridgeID)); err != nil {
			w.WriteHeader(err.(*vms.Error).Code)
		}
	}))
	c, err := client.New(client.Options{BaseURL: s.URL, Token: client.Token("x")})
	require.NoError(t, err)
	d, err = tunnel.New(tunnel.Options{URL: s.URL, Bridge: bridge, Token: func(ctx context.Context) (string, error) {
		return c.Bearer(ctx, "")
	}, Handler: handler, HTTP: c.HTTP(),
		MinPause: 5 * time.Millisecond, MaxPause: 20 * time.Millisecond})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { _ = d.Run(ctx) })
	stop = sync.OnceFunc(func() { cancel(); wg.Wait(); c.Close(); s.Close() })
	t.Cleanup(stop)
	return d, stop
}

func camera(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Header.Get("Authorization") != "Bearer im4ge" || r.Header.Get(vms.HeaderCamera) != "cam-1":
		w.WriteHeader(http.StatusUnauthorized)
	case r.URL.Path == vms.PathCameras+"/cam-1":
		_, _ = io.WriteString(w, `{"id":"cam-1","status":{"connectionStatus":"invalidCredentials"}}`)
	default:
		w.Header().Set("X-Vms-Timestamp", vms.At(began).String())
		_, _ = w.Write(jpeg)
	}
}

func TestImageThroughTheTunnel(t *testing.T) {
	b, _ := imagesOf(t, "")
	_, stop := dialHub(t, b, "acc-1", "bridge-1", http.HandlerFunc(camera))
	require.Eventually(t, func() bool { return b.hub.Stands("acc-1/bridge-1") }, time.Minute, time.Millisecond)
	for range 3 * maxPerBridge {
		img, err := b.Image(t.Context(), wanted)
		require.NoError(t, err)
		got, err := io.ReadAll(img.Body)
		require.NoError(t, err)
		require.NoError(t, img.Body.Close())
		require.Equal(t, jpeg, got)
		status, ok := b.Status(t.Context(), "acc-1", "cam-1")
		require.True(t, ok)
		require.Equal(t, vms.StatusInvalidCredentials, status)
	}
	_, ok := b.Status(t.Context(), "acc-2", "cam-1")
	require.False(t, ok)
	require.Empty(t, b.busy)

	stop()
	require.Eventually(t, func() bool { return !b.hub.Stands("acc-1/bridge-1") }, time.Minute, time.Millisecond)
	_, err := b.Image(t.Context(), wanted)
	var e *vms.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, 503, e.Code)
	require.Equal(t, vms.ReasonDeviceUnavailable, e.Reason())
	_, ok = b.Status(t.Context(), "acc-1", "cam-1")
	require.False(t, ok)
}

// A tunnel that breaks while it is asked is not the last word if the bridge has an address.
func TestADeadTunnelFallsBackToTheAddress(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(camera))
	defer s.Close()
	b, _ := imagesOf(t, s.URL)
	dialHub(t, b, "acc-1", "bridge-1",
		http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	require.Eventually(t, func() bool { return b.hub.Stands("acc-1/bridge-1") }, time.Minute, time.Millisecond)
	img, err := b.Image(t.Context(), wanted)
	require.NoError(t, err)
	require.NoError(t, img.Body.Close())
}

// What a bridge says of a camera is believed only if it is a status of that camera.
func TestStatusOfABridgeThatTalksNonsense(t *testing.T) {
	b, _ := imagesOf(t, "")
	answer := make(chan string, 1)
	dialHub(t, b, "acc-1", "bridge-1",
		http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, <-answer) }))
	require.Eventually(t, func() bool { return b.hub.Stands("acc-1/bridge-1") }, time.Minute, time.Millisecond)
	for _, text := range []string{"", "<html>", `{"id":"cam-2","status":{"connectionStatus":"online"}}`, `{"id":"cam-1"}`, `{"id":"cam-1","status":{"connectionStatus":"<script>"}}`} {
		answer <- text
		_, ok := b.Status(t.Context(), "acc-1", "cam-1")
		require.False(t, ok, text)
	}
}

// Nobody takes the place of another account's bridge, and what is answered does not tell whether
// there is one.
func TestATunnelIsForOnesOwnBridge(t *testing.T) {
	b, _ := imagesOf(t, "")
	require.NoError(t, b.registry.Register(t.Context(), principal("acc-2"), vms.Registration{ID: "bridge-2"}))
	mine, _ := dialHub(t, b, "acc-1", "bridge-1", http.HandlerFunc(camera))
	require.Eventually(t, func() bool { return mine.Up() && b.hub.Stands("acc-1/bridge-1") }, time.Minute,
		time.Millisecond)
	before, _ := b.hub.Transport("acc-1/bridge-1")
	var said []string
	for _, id := range []string{"bridge-1", "nobody"} {
		thief, stop := dialHub(t, b, "acc-2", id, http.NotFoundHandler())
		require.Eventually(t, func() bool { return thief.Trouble() != nil }, time.Minute, time.Millisecond)
		require.False(t, thief.Up())
		said = append(said,
			fmt.Sprint(thief.Trouble(),
				tunnels{registry: b.registry, hub: b.hub}.Serve(nil, nil, identity.Principal{AccountID: "acc-2"}, id)))
		stop()
	}
	require.Equal(t, said[0], said[1])
	after, _ := b.hub.Transport("acc-1/bridge-1")
	require.Same(t, before, after)
}
