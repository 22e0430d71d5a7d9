package main

import (
	"context"
	"errors"
	"net/http"
	"time"

	"vmsbridge/cmd/vmscloud/presence"
	"vmsbridge/cmd/vmscloud/registry"
	"vmsbridge/uplink/client"
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
	tunnelled := b.through(br.Key())
	if tunnelled == nil || !b.enter(br.Key()) {
		return "", false
	}
	defer b.leave(br.Key())
	ctx, cancel := context.WithTimeout(ctx, maxStatusTime)
	defer cancel()
	br.Address = "" // what is known already is as good
	var cam vms.Camera
	err := b.ask(ctx, tunnelled, br, camera, func(c *client.Client) (err error) {
		cam, err = c.Camera(ctx, camera)
		return err
	})
	if err == nil && (cam.ID != camera || cam.Status == nil || !vms.ValidStatus(cam.Status.ConnectionStatus)) {
		err = errors.New("what it sends is not the status of that camera")
	}
	if err != nil {
		b.log.Debug("a bridge did not say how a camera is", "bridge", br.Key(), "camera", camera, "error", err)
		return "", false
	}
	return cam.Status.ConnectionStatus, true
}
