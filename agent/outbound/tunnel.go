package outbound

import (
	"context"
	"errors"
	"net/http"

	"vmsbridge/uplink/tunnel"
)

// keepTunnel lets the link keep a tunnel to the service at url for the bridge of that id, through
// which handler answers. It is called before Run.
func (l *Service) keepTunnel(url, bridge string, handler http.Handler) error {
	dialer, err := tunnel.New(tunnel.Options{URL: url, Base: l.client.Base, Bridge: bridge, Token: l.tunnelToken(),
		Handler: handler, HTTP: l.client.HTTP(), Changed: l.Again, Log: l.log})
	if err != nil {
		return err
	}
	l.tunnel = dialer
	return nil
}

// tunnelToken gives the token for each dial: another one if the last was refused.
func (l *Service) tunnelToken() func(context.Context) (string, error) {
	last := ""
	return func(ctx context.Context) (string, error) {
		refused := ""
		if status := (*tunnel.StatusError)(nil); errors.As(l.tunnel.Trouble(), &status) &&
			status.Code == http.StatusUnauthorized {
			refused = last
		}
		token, err := l.client.Bearer(ctx, refused)
		last = token
		return token, err
	}
}
