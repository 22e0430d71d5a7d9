package onviftest

import (
	"net"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

var messageID = regexp.MustCompile(`<a:MessageID>(urn:uuid:[0-9a-f-]{36})</a:MessageID>`)

// Answer answers each probe of WS-Discovery that comes to conn, after some noise, with the reply,
// in which RELATES stands for the probe's id. It ends with the test, and closes conn.
func Answer(t *testing.T, conn *net.UDPConn, reply string) {
	done := make(chan struct{})
	t.Cleanup(func() { _ = conn.Close(); <-done })
	go func() {
		defer close(done)
		buffer := make([]byte, 64<<10)
		for {
			n, from, err := conn.ReadFromUDPAddrPort(buffer)
			if err != nil {
				return
			}
			id := messageID.FindSubmatch(buffer[:n])
			if id == nil || !strings.Contains(string(buffer[:n]), "discovery/Probe</a:Action>") {
				continue
			}
			_, _ = conn.WriteToUDPAddrPort([]byte("noise"), from)
			_, _ = conn.WriteToUDPAddrPort([]byte(strings.ReplaceAll(reply, "RELATES", string(id[1]))), from)
		}
	}()
}

// Everywhere has the camera answer on all of the machine's addresses, and searches by multicast
// with its name and hardware. It returns the address at which searches find it; ok is false where
// no interface can multicast. It must be called before the camera is asked.
func (r *Responder) Everywhere(t *testing.T, name, hardware string) (host string, ok bool) {
	l, err := net.Listen("tcp4", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	all := httptest.NewUnstartedServer(r)
	_ = all.Listener.Close()
	all.Listener = l
	all.Start()
	t.Cleanup(all.Close)
	_, port, _ := net.SplitHostPort(l.Addr().String())
	interfaces, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	group := &net.UDPAddr{IP: net.IPv4(239, 255, 255, 250), Port: 3702}
	for _, i := range interfaces {
		addresses, err := i.Addrs()
		if err != nil || i.Flags&net.FlagUp == 0 || i.Flags&net.FlagMulticast == 0 {
			continue
		}
		for _, a := range addresses {
			own, is := a.(*net.IPNet)
			if !is || own.IP.To4() == nil {
				continue
			}
			conn, err := net.ListenMulticastUDP("udp4", &i, group)
			if err != nil {
				continue
			}
			at := net.JoinHostPort(own.IP.String(), port)
			Answer(t, conn, matches(name, hardware, at))
			return own.IP.String(), true
		}
	}
	return "", false
}

// matches is an answer; the port makes the device one of its own among those of other tests.
func matches(name, hardware, at string) string {
	_, port, _ := net.SplitHostPort(at)
	return `<?xml version="1.0" encoding="UTF-8"?>
<env:Envelope xmlns:env="http://www.w3.org/2003/05/soap-envelope" xmlns:a="http://schemas.xmlsoap.org/ws/2004/08/addressing" xmlns:d="http://schemas.xmlsoap.org/ws/2005/04/discovery" xmlns:dn="http://www.onvif.org/ver10/network/wsdl"><env:Header><a:RelatesTo>RELATES</a:RelatesTo><a:Action>http://schemas.xmlsoap.org/ws/2005/04/discovery/ProbeMatches</a:Action></env:Header><env:Body><d:ProbeMatches><d:ProbeMatch><a:EndpointReference><a:Address>urn:uuid:4fd1a2c0-0000-1000-8000-c056e30` +
		port + `</a:Address></a:EndpointReference><d:Types>dn:NetworkVideoTransmitter</d:Types><d:Scopes>onvif://www.onvif.org/hardware/` +
		hardware + ` onvif://www.onvif.org/name/` + name + `</d:Scopes><d:XAddrs>http://` + at +
		`/onvif/device_service</d:XAddrs><d:MetadataVersion>1</d:MetadataVersion></d:ProbeMatch></d:ProbeMatches></env:Body></env:Envelope>`
}
