package signin

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"golang.org/x/net/publicsuffix"
)

var label = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// brandedHost is the address of the brand's host: the service's with another first label, "" where
// there is no such thing. It stays within the registered domain, as the session is sent there.
func brandedHost(address, brand string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" || !label.MatchString(brand) {
		return ""
	}
	_, parent, ok := strings.Cut(u.Hostname(), ".")
	domain, err := publicsuffix.EffectiveTLDPlusOne(u.Hostname())
	if !ok || err != nil || parent != domain && !strings.HasSuffix(parent, "."+domain) {
		return ""
	}
	host := brand + "." + parent
	if port := u.Port(); port != "" {
		host += ":" + port
	}
	if host == u.Host {
		return ""
	}
	return "https://" + host
}

// knows asks a host whether the session is good there.
func (d Door) knows(ctx context.Context, address, session string) bool {
	_, err := request{method: http.MethodGet, base: address, path: "/g/aaa/isauth", session: session, key: d.Key}.
		send(ctx, d.HTTP, stepOpen, nil)
	return err == nil
}
