package client

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/http/httpproxy"

	"vmsbridge/uplink/delivery"
)

// transport keeps a few connections open, so that a backlog drains without a handshake for every
// event. The proxy is that of the environment (HTTPS_PROXY, HTTP_PROXY, NO_PROXY) as it is now; one
// that is wrong is an error rather than left out. timeout is that of a request: a connection of
// HTTP/2 on which nothing arrives for half of it is asked for a sign of life and given up, since
// the requests that come to nothing on it do not end it, as they do with HTTP/1.
func transport(o Options, timeout time.Duration) (*http.Transport, error) {
	env := httpproxy.FromEnvironment()
	if err := errors.Join(checkProxy("HTTPS_PROXY", env.HTTPSProxy),
		checkProxy("HTTP_PROXY", env.HTTPProxy)); err != nil {
		return nil, err
	}
	proxy := env.ProxyFunc()
	t := &http.Transport{
		Proxy:                  func(r *http.Request) (*url.URL, error) { return proxy(r.URL) },
		OnProxyConnectResponse: delivery.ProxyAnswer,
		DialContext:            (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout:    10 * time.Second,
		ResponseHeaderTimeout:  25 * time.Second,
		IdleConnTimeout:        90 * time.Second,
		MaxIdleConns:           32,
		MaxIdleConnsPerHost:    32,
		MaxResponseHeaderBytes: 64 << 10,
		ForceAttemptHTTP2:      true,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: timeout / 2, PingTimeout: timeout / 3},
	}
	var err error
	t.TLSClientConfig, err = delivery.Trust(o.CAFile, o.Fingerprint)
	return t, err
}

// checkProxy says what is wrong with the address of a proxy: httpproxy would go without one that it
// does not understand, and so past a proxy that somebody wants. The address itself stays unsaid,
// since it may hold a password.
func checkProxy(variable, address string) error {
	if address == "" {
		return nil
	}
	if !strings.Contains(address, "://") {
		address = "http://" + address // a host and a port alone will do
	}
	if u, err := url.Parse(address); err == nil && u.Hostname() != "" &&
		slices.Contains([]string{"http", "https", "socks5", "socks5h"}, u.Scheme) {
		return nil
	}
	return fmt.Errorf("the proxy in %s must look like http://host:port, http://user:password@host:port or "+
		"socks5://host:port", variable)
}

// maxRedirects bounds how often a service sends a request on.
const maxRedirects = 3

// withinHost follows a redirect only where the request stays what it is and goes to the same host,
// so that neither the token nor an event is carried away; every other is the answer.
func withinHost(r *http.Request, via []*http.Request) error {
	from := via[0]
	if len(via) > maxRedirects || r.Method != from.Method || r.URL.Scheme != from.URL.Scheme ||
		r.URL.Host != from.URL.Host || r.URL.User != nil {
		return http.ErrUseLastResponse
	}
	return nil
}
