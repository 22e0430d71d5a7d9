package web

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"vmsbridge/uplink/identity/api"
	"vmsbridge/uplink/identity/session"
)

// Client is the address that a request comes from. What a proxy says is believed only of the
// proxies that are configured.
func (w *Web) Client(r *http.Request) netip.Addr {
	ap, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	at := ap.Addr().Unmap()
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, hop := range slices.Backward(hops) {
		if !w.proxy(at) {
			break
		}
		next, err := netip.ParseAddr(strings.TrimSpace(hop))
		if err != nil {
			break
		}
		at = next.Unmap()
	}
	return at
}

func (w *Web) proxy(a netip.Addr) bool {
	return slices.ContainsFunc(w.o.Proxies, func(p netip.Prefix) bool { return p.Contains(a) })
}

// forever is the longest that browsers keep a cookie.
const forever = 400 * 24 * time.Hour

// signedIn sets the cookies of a session that was just opened: its key under both names, and that
// of a trusted device.
func (c *call) signedIn(o session.Opened) {
	age := forever
	if !o.Session.Expires.IsZero() {
		age = o.Session.Expires.Sub(c.store.Now())
	}
	for _, name := range []string{api.CookieSession, api.CookieSessionOld} {
		c.cookie(name, o.Key, age)
	}
	if o.Device != "" {
		c.cookie(api.CookieDevice, o.Device, forever)
	}
	if o.Mark != "" {
		c.cookie(api.CookieMark, o.Mark, forever)
	}
}

// signedOut takes the session's cookies back. The device stays trusted.
func (c *call) signedOut() {
	for _, name := range []string{api.CookieSession, api.CookieSessionOld} {
		c.cookie(name, "", -time.Second)
	}
}

func (c *call) cookie(name, value string, age time.Duration) {
	// The pages of other sites that may use a browser here need its cookies, which browsers keep
	// for those only over TLS.
	secure, same := c.o.Secure || c.r.TLS != nil, http.SameSiteLaxMode
	if secure && c.trusts(c.r) {
		same = http.SameSiteNoneMode
	}
	http.SetCookie(c.w, &http.Cookie{Name: name, Value: value, Path: "/", Domain: c.o.CookieDomain,
		MaxAge:  int(age / time.Second),
		Expires: c.store.Now().Add(age), HttpOnly: true, Secure: secure, SameSite: same})
}
