package vms

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// Here is the address of this server as the client of a request is told it: public if that is set.
// Else it is the host that the client used, if that is loopback, the address that the connection
// came to, or a name that known takes. Whoever sends a request chooses its Host, so that any other
// one is not repeated: the client is told the address that its connection came to. known may be
// nil.
func Here(r *http.Request, public *url.URL, known func(name string) bool) *url.URL {
	if public != nil {
		return public
	}
	here := &url.URL{Scheme: "http", Host: r.Host}
	if r.TLS != nil {
		here.Scheme = "https"
	}
	name := strings.ToLower(strings.TrimSuffix(here.Hostname(), "."))
	var at netip.AddrPort
	if local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok {
		at, _ = netip.ParseAddrPort(local.String())
	}
	ip := at.Addr().Unmap().WithZone("")
	switch {
	case loopback(name), at.IsValid() && name == ip.String() && here.Port() != "", known != nil && known(name):
		return here
	case at.IsValid():
		return &url.URL{Scheme: here.Scheme, Host: netip.AddrPortFrom(ip, at.Port()).String()}
	}
	// It is no connection of the network, but such as one through a tunnel.
	return &url.URL{Scheme: here.Scheme, Host: "localhost"}
}

// BaseOf is an address as clients are told it, with the port of its scheme where it names none.
func BaseOf(u *url.URL) BaseURL {
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		port = 80
		if u.Scheme == "https" {
			port = 443
		}
	}
	return BaseURL{Hostname: u.Hostname(), Port: port}
}

// loopback reports whether a name stands for the machine itself wherever it is read.
func loopback(name string) bool {
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true
	}
	a, err := netip.ParseAddr(name)
	return err == nil && a.Unmap().IsLoopback()
}
