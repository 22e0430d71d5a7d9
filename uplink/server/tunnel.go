package server

import (
	"context"
	"net/http"
	"time"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/vms"
)

// Tunnels takes in the connections that bridges make so that they can be asked through them. Only
// vmscloud has it.
type Tunnels interface {
	// Serve takes in the tunnel of a bridge of p's account and blocks until it ends or the
	// request's context is done, as by Drain with the cause ErrDraining. A *vms.Error, which is
	// returned before anything is written, is the answer.
	Serve(w http.ResponseWriter, r *http.Request, p identity.Principal, bridge string) error
}

// Statuses knows how cameras are at this moment. What it does not know is answered from
// CameraSource.
type Statuses interface {
	// Status is a camera's connection status, ok false if nobody can be asked. It takes no longer
	// than its caller would wait for an answer.
	Status(ctx context.Context, account, camera string) (status string, ok bool)
}

// recheck is how often a credential that keeps a connection open is looked at again: a revoked one
// ends it.
const recheck = 10 * time.Second

// openTunnel is GET /bridges:tunnel, which is not part of the public interface: a bridge opens a
// WebSocket through which the service asks it. Only those may who may register a bridge, and only
// for one that their own account has.
func (s *Server) openTunnel(c *call) error {
	bridge, err := ownBridge(c)
	if err != nil {
		return err
	}
	r, leave, err := s.connections.enter(c.r)
	if err != nil {
		return err
	}
	defer leave()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	go s.watch(ctx, cancel, c, s.recheck, func() (identity.Principal, error) { return authenticate(s.opts.Auth, c.r) })
	return s.opts.Tunnels.Serve(c.w, c.r.WithContext(ctx), c.principal, bridge)
}

// Leaver is a BridgeRegistry that wants to know when a bridge stops.
type Leaver interface {
	// Leave notes that a bridge of p's account stops, and may be back in a moment. A *vms.Error is
	// the answer.
	Leave(ctx context.Context, p identity.Principal, bridge string) error
}

// leave is POST /bridges:leave, which is not part of the public interface: a bridge says goodbye
// before it stops, so that a restart is no outage. Those may who may open its tunnel.
func (s *Server) leave(c *call) error {
	bridge, err := ownBridge(c)
	if err != nil {
		return err
	}
	if err := s.opts.Bridges.(Leaver).Leave(c.r.Context(), c.principal, bridge); err != nil {
		return err
	}
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}

// ownBridge is the bridge that a request of a bridge names. Whether it is that bridge's is not
// asked yet.
func ownBridge(c *call) (string, error) {
	a := c.args
	bridge := a.need("bridgeId")
	if bridge != "" && !vms.ValidID(bridge) {
		a.bad("bridgeId", "cannot be the id of a bridge")
	}
	if err := a.err(); err != nil {
		return "", err
	}
	if !bringsBridges(c.principal) {
		return "",
			vms.NewError(http.StatusForbidden, vms.ReasonPermission,
				"Only a token of kind bridge, or of a user who sees all of the account, may speak for a bridge")
	}
	return bridge, nil
}

// watch calls cancel when the credential of a long request is no longer good, or stands for another
// account: look finds out. It returns when ctx is done.
func (s *Server) watch(ctx context.Context, cancel func(), c *call, every time.Duration,
	look func() (identity.Principal, error)) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if p, err := look(); gone(c, p, err) {
			s.log.Info("a long request ends: its token is no longer good", "path", c.r.URL.Path, "token",
				c.principal.TokenID)
			cancel()
			return
		}
	}
}
