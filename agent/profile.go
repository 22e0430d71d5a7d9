package agent

import (
	"log/slog"
	"net"
	"net/netip"
	"net/url"

	"vmsbridge/configs"
	"vmsbridge/uplink/vms"
)

// localURL is the address under which others reach this bridge, or "" if only the installer can
// know it: the bridge listens on all addresses and api.public_url is not set.
func localURL(cfg *configs.Config, addr net.Addr, log *slog.Logger) string {
	if cfg.API.PublicURL != "" {
		return cfg.API.PublicURL
	}
	if tcp, ok := addr.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		log.Warn("others cannot be told where this bridge is: set api.public_url to its address on the network")
		return ""
	}
	scheme := "http"
	if cfg.API.TLS.Cert != "" {
		scheme = "https"
	}
	return scheme + "://" + addr.String()
}

// pageOf is the address of the page for others, "" if it is not known or leads to the machine that
// asks.
func pageOf(base string) string {
	if base == "" || loopback(base) {
		return ""
	}
	return base + "/"
}

// profile is what the service is to know of this bridge: where its stills are, and its cameras with
// their states. A service elsewhere is told no loopback address, since that would be its own
// machine's.
func (a *Agent) profile(base string) vms.Registration {
	if loopback(base) && !loopback(a.cfg().Service.URL) {
		base = ""
	}
	r := vms.Registration{ID: a.cfg().Bridge.ID, Name: a.cfg().Bridge.Name, Address: base, ImageToken: a.visitor,
		Cameras: []vms.RegisteredCamera{}}
	for _, c := range a.Cameras() {
		r.Cameras = append(r.Cameras,
			vms.RegisteredCamera{ID: c.ID, Name: c.Name, ConnectionStatus: c.Status.ConnectionStatus})
	}
	return r
}

// loopback says whether an address leads to the machine that asks.
func loopback(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && ip.IsLoopback()
}
