package main

import (
	"log/slog"
	"net"
	"net/http"

	"vmsbridge/uplink/admit"
	"vmsbridge/uplink/server"
)

// Connections at a time: a bridge has one for its tunnel and one or two to report by, and a site
// has one address. 512 that show nobody yet, as when all bridges come back at once, take some
// 35 MiB, and 50 with as many requests of HTTP/2 each as it lets them have.
const (
	connections           = 16384
	connectionsPerAddress = 1024
	strangers             = 512
)

// front is the service's port with what answers there.
type front struct {
	l    net.Listener
	http *http.Server
}

func (c runCmd) front(l net.Listener, h http.Handler, log *slog.Logger) (front, error) {
	proxies, err := prefixes("--proxy", c.Proxy)
	if err != nil {
		return front{}, err
	}
	door := admit.New(l, admit.Options{Total: connections, PerAddress: connectionsPerAddress, Strangers: strangers,
		Exempt: proxies, Log: log})
	s := server.NewHTTP(h, log)
	door.Attach(s)
	return front{door, s}, nil
}
