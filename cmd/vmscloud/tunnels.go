package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"vmsbridge/cmd/vmscloud/presence"
	"vmsbridge/cmd/vmscloud/registry"
	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/server"
	"vmsbridge/uplink/tunnel"
	"vmsbridge/uplink/vms"
)

// tunnels lets bridges open tunnels: each for a bridge that is registered with the same credential,
// so that nobody can take the place of another's, of another account or the same.
type tunnels struct {
	registry *registry.Registry
	hub      *tunnel.Hub
	presence *presence.Watch // nil: nobody looks which bridges are there
}

var _ server.Tunnels = tunnels{}

// Serve takes in a bridge's tunnel. A bridge of another account is answered like one that does not
// exist.
func (t tunnels) Serve(w http.ResponseWriter, r *http.Request, p identity.Principal, bridge string) error {
	if err := t.registry.SpeaksFor(p, bridge); err != nil {
		return err
	}
	var told tunnel.Told
	if t.presence != nil {
		d := presence.BridgeOf(p.AccountID, bridge)
		told = tunnel.Told{Stands: func() { t.presence.TunnelStands(d) }, Ended: func(last time.Time) {
			t.presence.TunnelEnded(d, last)
		}}
	}
	t.hub.Serve(w, r, registry.Key(p.AccountID, bridge), told)
	return nil
}

// inTunnel stands for the host in the address of a request that goes through a tunnel.
const inTunnel = "http://bridge"

// maxStatusTime is how long a bridge may take to say how a camera is, before what is known already
// is the answer.
const maxStatusTime = 2 * time.Second

// maxStatusBytes bounds what a bridge says of a camera.
const maxStatusBytes = 64 << 10

// through is a client for the tunnel of the bridge of a key, nil if it has none.
func (b *bridgeImages) through(key string) *http.Client {
	transport, ok := b.hub.Transport(key)
	if !ok {
		return nil
	}
	return &http.Client{Transport: transport, CheckRedirect: b.http.CheckRedirect}
}

// Status asks the camera's bridge how the camera is, if it has a tunnel.
func (b *bridgeImages) Status(ctx context.Context, account, camera string) (string, bool) {
	_, br, known := b.registry.Camera(account, camera)
	if !known {
		return "", false
	}
	client := b.through(br.Key())
	if client == nil || !b.enter(br.Key()) {
		return "", false
	}
	defer b.leave(br.Key())
	ctx, cancel := context.WithTimeout(ctx, maxStatusTime)
	defer cancel()
	status, err := askStatus(ctx, client, br, camera)
	if err != nil {
		if u := (*url.Error)(nil); errors.As(err, &u) {
			err = u.Err
		}
		b.log.Debug("a bridge did not say how a camera is", "bridge", br.Key(), "camera", camera, "error", err)
		return "", false
	}
	return status, true
}

func askStatus(ctx context.Context, client *http.Client, br registry.Bridge, camera string) (status string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet,
		inTunnel+vms.PathCameras+"/"+url.PathEscape(camera)+"?include=status", nil)
	if err != nil {
		return "", err
	}
	req.Header.Set("Authorization", "Bearer "+br.Token)
	req.Header.Set(vms.HeaderCamera, camera)
	res, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, res.Body.Close()) }()
	if res.StatusCode != http.StatusOK {
		return "", fmt.Errorf("it answers %d", res.StatusCode)
	}
	var cam vms.Camera
	if err := json.NewDecoder(io.LimitReader(res.Body, maxStatusBytes)).Decode(&cam); err != nil {
		return "", errors.New("what it sends is not a camera")
	}
	if cam.ID != camera || cam.Status == nil || !vms.ValidStatus(cam.Status.ConnectionStatus) {
		return "", errors.New("what it sends is not the status of that camera")
	}
	return cam.Status.ConnectionStatus, nil
}
