package server

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/tunnel"
	"vmsbridge/uplink/vms"
)

// hubOf is a Tunnels for the bridges of one account.
type hubOf struct {
	*tunnel.Hub
	account string
}

func (h hubOf) Serve(w http.ResponseWriter, r *http.Request, p identity.Principal, bridge string) error {
	if p.AccountID != h.account {
		return vms.NewError(http.StatusConflict, vms.ReasonResource, "no such bridge")
	}
	h.Hub.Serve(w, r, bridge, tunnel.Told{})
	return nil
}

// fickle lets the bridge's token in until it is revoked, and fails on demand.
type fickle struct {
	Authenticator
	revoked, broken atomic.Bool
	asked           atomic.Int64
}

func (f *fickle) Authenticate(token string) (identity.Principal, error) {
	f.asked.Add(1)
	switch {
	case f.broken.Load():
		return identity.Principal{}, http.ErrServerClosed
	case f.revoked.Load():
		return identity.Principal{}, identity.ErrUnknown
	}
	return f.Authenticator.Authenticate(token)
}

func TestTunnelIsForBridgesOnly(t *testing.T) {
	hub := hubOf{tunnel.NewHub(time.Second, nil), "acc-1"}
	defer func() { require.NoError(t, hub.Close()) }()
	auth := &fickle{Authenticator: bedTokens(t)}
	s, err := New(Options{Events: bedEvents{}, Cameras: bedCameras{}, Auth: auth, Tunnels: hub})
	require.NoError(t, err)
	s.recheck = 5 * time.Millisecond
	served := httptest.NewServer(s)
	defer served.Close()
	for _, c := range []struct {
		method, token, query string
		want                 int
	}{
		{"GET", "", "?bridgeId=b", 401},
		{"GET", "nobody", "?bridgeId=b", 401},
		{"GET", tokenUser, "?bridgeId=b", 403},
		{"GET", tokenReader, "?bridgeId=b", 403},
		{"GET", tokenBridge, "", 400},
		{"GET", tokenBridge, "?bridgeId=..%2f", 400},
		{"GET", tokenBridge, "?bridgeId=b&x=y", 400},
		{"POST", tokenBridge, "?bridgeId=b", 405},
		{"GET", tokenBridge, "?bridgeId=b", http.StatusUpgradeRequired}, // right, but no WebSocket
	} {
		r, err := http.NewRequest(c.method, served.URL+tunnel.Path+c.query, nil)
		require.NoError(t, err)
		if c.token != "" {
			r.Header.Set("Authorization", "Bearer "+c.token)
		}
		res, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, c.want, res.StatusCode, "%+v", c)
	}

	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	d, err := tunnel.New(tunnel.Options{URL: served.URL, Bridge: "b", Token: func(context.Context) (string, error) {
		return tokenBridge, nil
	}, HTTP: client,
		Handler: http.NotFoundHandler(), MinPause: time.Millisecond, MaxPause: 5 * time.Millisecond})
	require.NoError(t, err)
	done := make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { done <- d.Run(ctx) }()
	defer func() { cancel(); require.ErrorIs(t, <-done, context.Canceled) }()
	up := func(want bool) {
		t.Helper()
		require.Eventually(t, func() bool { return d.Up() == want && hub.Stands("b") == want }, time.Minute,
			time.Millisecond)
	}
	up(true)
	auth.broken.Store(true) // what the store says then is nothing about the token
	before, _ := hub.Transport("b")
	asked := auth.asked.Load()
	require.Eventually(t, func() bool { return auth.asked.Load() > asked+3 }, time.Minute, time.Millisecond)
	auth.broken.Store(false)
	after, _ := hub.Transport("b")
	require.Same(t, before, after)
	auth.revoked.Store(true)
	up(false)
	var refused *tunnel.StatusError
	require.Eventually(t, func() bool { return errors.As(d.Trouble(), &refused) }, time.Minute, time.Millisecond)
	require.Equal(t, 401, refused.Code)
	auth.revoked.Store(false)
	up(true)
}
