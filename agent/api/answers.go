package api

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
)

// Answers asks the bridge's own port, as a client does.
func (a *API) Answers(ctx context.Context, listen net.Addr) error {
	scheme := "http"
	transport := &http.Transport{DisableKeepAlives: true}
	if a.opts.Config().API.TLS.Cert != "" {
		scheme = "https"
		transport.TLSClientConfig = &tls.Config{InsecureSkipVerify: true} // it is our own port, and nothing is sent
	}
	if tcp, ok := listen.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		listen = &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: tcp.Port}
		if tcp.IP.To4() == nil {
			listen = &net.TCPAddr{IP: net.IPv6loopback, Port: tcp.Port}
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://"+listen.String()+"/healthz", nil)
	if err != nil {
		return err
	}
	res, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		return fmt.Errorf("ask the bridge's own port: %w", err)
	}
	return res.Body.Close()
}
