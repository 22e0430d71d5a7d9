package discover

import (
	"encoding/xml"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// Device is what answered a search.
type Device struct {
	// ID is the device's own, stable name, mostly urn:uuid:…; it may be empty.
	ID string
	// Host is where the answer came from.
	Host netip.Addr
	// Addresses are those of its device service, http or https, the most likely to work first.
	Addresses []string
	// Name, Hardware and Location are what its scopes say, without control characters; they may be
	// empty.
	Name, Hardware, Location string
}

func (d *Device) key() string {
	if d.ID != "" {
		return d.ID
	}
	return d.Host.String()
}

// merge takes in another answer of the same device, as one comes on each interface.
func (d *Device) merge(other Device) {
	for _, a := range other.Addresses {
		if !slices.Contains(d.Addresses, a) && len(d.Addresses) < maxAddresses {
			d.Addresses = append(d.Addresses, a)
		}
	}
}

const maxAddresses = 16

const probeForm = `<?xml version="1.0" encoding="UTF-8"?>
<s:Envelope xmlns:s="http://www.w3.org/2003/05/soap-envelope" xmlns:a="http://schemas.xmlsoap.org/ws/2004/08/addressing" xmlns:d="http://schemas.xmlsoap.org/ws/2005/04/discovery" xmlns:dn="http://www.onvif.org/ver10/network/wsdl"><s:Header><a:MessageID>urn:uuid:%s</a:MessageID><a:To>urn:schemas-xmlsoap-org:ws:2005:04:discovery</a:To><a:Action>http://schemas.xmlsoap.org/ws/2005/04/discovery/Probe</a:Action></s:Header><s:Body><d:Probe>%s</d:Probe></s:Body></s:Envelope>`

// probe is the question. types is empty for "anything".
func probe(id, types string) []byte {
	if types != "" {
		types = "<d:Types>" + types + "</d:Types>"
	}
	return fmt.Appendf(nil, probeForm, id, types)
}

// parseMatches reads an answer of from. What is no ONVIF device, or no answer, gives nothing.
func parseMatches(message []byte, from netip.Addr) []Device {
	var m struct { // what matters here; prefixes differ from camera to camera
		XMLName xml.Name `xml:"Envelope"`
		Match   []struct {
			Address string `xml:"EndpointReference>Address"`
			Types   string
			Scopes  string
			XAddrs  string
		} `xml:"Body>ProbeMatches>ProbeMatch"`
	}
	if err := decodeXML(message, &m); err != nil {
		return nil
	}
	var list []Device
	for _, match := range m.Match {
		if !strings.Contains(match.Types, "NetworkVideoTransmitter") &&
			!strings.Contains(match.Scopes, "onvif://www.onvif.org/") {
			continue // a printer
		}
		d := Device{ID: plain(match.Address), Host: from}
		for _, a := range strings.Fields(match.XAddrs) {
			if a, ok := bring(a, from.WithZone("")); ok && !slices.Contains(d.Addresses, a) &&
				len(d.Addresses) < maxAddresses {
				d.Addresses = append(d.Addresses, a)
			}
		}
		if len(d.Addresses) == 0 {
			d.Addresses = []string{ServiceAddress(hostOf(from))}
		}
		for _, scope := range strings.Fields(match.Scopes) {
			d.scope(scope)
		}
		list = append(list, d)
	}
	return list
}

// bring checks a device service's address and puts the host from which the device was seen into it,
// unless it names that: cameras tell addresses of networks that they are not in any more.
func bring(address string, from netip.Addr) (string, bool) {
	u, err := url.Parse(address)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.User != nil {
		return "", false
	}
	if ip, err := netip.ParseAddr(u.Hostname()); err != nil || ip.WithZone("") != from {
		u.Host = joinPort(hostOf(from), u.Port())
	}
	return u.String(), true
}

func hostOf(a netip.Addr) string {
	if a.Is6() {
		return "[" + a.String() + "]"
	}
	return a.String()
}

func joinPort(host, port string) string {
	if port == "" {
		return host
	}
	return host + ":" + port
}

// scope reads one of the scopes, such as onvif://www.onvif.org/name/Front%20Gate.
func (d *Device) scope(s string) {
	rest, ok := strings.CutPrefix(s, "onvif://www.onvif.org/")
	if !ok {
		return
	}
	kind, value, _ := strings.Cut(rest, "/")
	if text, err := url.PathUnescape(value); err == nil {
		value = text
	}
	for name, field := range map[string]*string{"name": &d.Name, "hardware": &d.Hardware, "location": &d.Location} {
		if strings.EqualFold(kind, name) && *field == "" {
			*field = plain(value)
		}
	}
}
