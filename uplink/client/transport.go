package client

import (
	"net"
	"net/http"
	"net/url"
	"time"

	"golang.org/x/net/http/httpproxy"

	"vmsbridge/uplink/trust"
)

// transport keeps a few connections open, so that a backlog drains without a handshake for every event. The proxy is that
// of the environment (HTTPS_PROXY, HTTP_PROXY, NO_PROXY) as it is now; one that is wrong fails every request rather than
// being left out.
func transport(o Options) (*http.Transport, error) {
	proxy := httpproxy.FromEnvironment().ProxyFunc()
	t := &http.Transport{
		Proxy:                  func(r *http.Request) (*url.URL, error) { return proxy(r.URL) },
		DialContext:            (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout:    10 * time.Second,
		ResponseHeaderTimeout:  25 * time.Second,
		IdleConnTimeout:        90 * time.Second,
		MaxIdleConns:           32,
		MaxIdleConnsPerHost:    32,
		MaxResponseHeaderBytes: 64 << 10,
		ForceAttemptHTTP2:      true,
	}
	var err error
	t.TLSClientConfig, err = trust.New(o.CAFile, o.Fingerprint)
	return t, err
}
