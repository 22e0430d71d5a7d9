package signin

import (
	"bytes"
	"encoding/json"
	"net"
	"net/url"
	"strconv"
	"strings"
)

// place is where a service says that /api/v3.0 is. The public form is {"hostname":
// "api.c000.example.com", "port": 443}; other services write the port as a text or leave it out,
// put it or a path behind the name, or give one address.
type place struct {
	host string // with a port if one is said: "" for none
	path string
}

// UnmarshalJSON reads any of these forms. What is none of them is no place, not an error: the token
// beside it is good.
func (p *place) UnmarshalJSON(b []byte) error {
	*p = place{}
	var whole string
	if json.Unmarshal(b, &whole) == nil {
		*p = placeOf(whole, "")
		return nil
	}
	var parts struct {
		Hostname string          `json:"hostname"`
		Port     json.RawMessage `json:"port"`
	}
	if json.Unmarshal(b, &parts) == nil {
		port := string(bytes.Trim(parts.Port, `"`))
		if port == "null" || port == "0" {
			port = ""
		}
		*p = placeOf(parts.Hostname, port)
	}
	return nil
}

// placeOf reads an address or a name, to which a port may be said apart.
func placeOf(address, port string) place {
	scheme, rest, ok := strings.Cut(address, "://")
	switch {
	case !ok && strings.Count(address, ":") > 1 && !strings.HasPrefix(address, "["):
		scheme, rest = "https", "["+address+"]" // IPv6
	case !ok:
		scheme, rest = "https", address
	case scheme != "https" && scheme != "http":
		return place{}
	}
	u, err := url.Parse("https://" + rest)
	if err != nil || u.User != nil || u.RawQuery != "" || u.Fragment != "" ||
		strings.ContainsAny(u.Host+u.Path, " \\%") || len(u.Host) > 253+6 {
		return place{}
	}
	name := u.Hostname()
	if u.Port() != "" {
		port = u.Port()
	} else if port == "" && scheme == "http" {
		port = "80"
	}
	if n, err := strconv.Atoi(port); name == "" || port != "" && (err != nil || n <= 0 || n > 65535) {
		return place{}
	}
	p := place{host: name, path: strings.TrimRight(u.Path, "/")}
	if port != "" {
		p.host = net.JoinHostPort(name, port)
	} else if strings.Contains(name, ":") {
		p.host = "[" + name + "]"
	}
	return p
}

// address is the place as an address, "" for none. It is https, whatever the port, but for the very
// host and port at which the sign-in took place in plain HTTP; where no port is said, the host of
// the sign-in has that of the sign-in.
func (p place) address(door string) string {
	d, err := url.Parse(door)
	if err != nil || p.host == "" {
		return ""
	}
	at := place{host: d.Host}
	if d.Port() == "" {
		at.host = net.JoinHostPort(d.Hostname(), map[bool]string{true: "80", false: "443"}[d.Scheme == "http"])
	}
	said, err := url.Parse("https://" + p.host)
	if err != nil {
		return ""
	}
	here := strings.EqualFold(at.host, p.host) || said.Port() == "" && strings.EqualFold(d.Hostname(), said.Hostname())
	switch {
	case here && p.path == "":
		return strings.TrimRight(door, "/")
	case here:
		return d.Scheme + "://" + d.Host + p.path
	}
	return "https://" + strings.TrimSuffix(p.host, ":443") + p.path
}
