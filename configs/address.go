package configs

import (
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// url checks an address; it returns nil if it reported one. The address is never repeated: it may
// hold a secret.
func (c *checker) url(path, raw string, schemes ...string) *url.URL {
	u, err := url.Parse(raw)
	_, authority, _ := strings.Cut(raw, "//")
	authority, _, _ = strings.Cut(authority, "?")
	switch {
	case (err != nil && strings.Contains(authority, "@")) || (err == nil && u.User != nil):
		keys := "username and password (or password_file)"
		if schemes[0] == "http" {
			keys = "a token"
		}
		c.fault(path, "a user name or password must not stand in an address, where logs would show it; write %s as "+
			"keys of their own", keys)
		return nil
	case err != nil:
		c.fault(path, "is not an address; write it as %s://host:port/path", schemes[0])
	case !slices.Contains(schemes, u.Scheme):
		c.fault(path, "must begin with %s://", strings.Join(schemes, ":// or "))
	case u.Hostname() == "" || badPort(u.Port()):
		c.fault(path, "must name a host and, if any, a port from 1 to 65535: %s://host:port/path", schemes[0])
	case u.Fragment != "":
		c.fault(path, "must not have a part that begins with #; write # as %%23")
	case schemes[0] == "http" && u.RawQuery != "":
		c.fault(path, "must not have a part that begins with ?")
	default:
		return u
	}
	return nil
}

func badPort(port string) bool {
	n, err := strconv.Atoi(port)
	return port != "" && (err != nil || n < 1 || n > 65535)
}

func loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || (err == nil && ip.Unmap().IsLoopback())
}

// absolute is a path as an absolute one, counted from the YAML file's folder.
func (c *checker) absolute(path, name string) string {
	if name == "" {
		if c.given(path) {
			c.fault(path, "is empty")
		}
		return ""
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(c.dir, name)
	}
	abs, err := filepath.Abs(name)
	if err != nil {
		return name
	}
	return abs
}
