package web

import (
	"net/http"
	"net/netip"

	"vmsbridge/uplink/identity/record"
)

// The checks that other doors of the same house share with this one, so that nobody guesses at two doors twice as
// fast: identity/oauth uses them.

// Client is the address that a request comes from, behind the proxies that are believed.
func (w *Web) Client(r *http.Request) netip.Addr { return w.client(r) }

// Behind gives the requests to next with the client's address in place of that of a proxy that is believed, so that what
// stands behind it need not know of proxies.
func (w *Web) Behind(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if at, err := netip.ParseAddrPort(r.RemoteAddr); err == nil && w.proxy(at.Addr().Unmap()) {
			r2 := *r
			r2.RemoteAddr, r = netip.AddrPortFrom(w.client(r), at.Port()).String(), &r2
		}
		next.ServeHTTP(rw, r)
	})
}

// Allow counts a request from an address about a user, "" for nobody, and says whether it is let through.
func (w *Web) Allow(from netip.Addr, who string) bool {
	return w.allowed(from) && (who == "" || w.byUser.allow(record.Fold(who)))
}

// GiveBack makes a request that was let through count no more as a guess: it was right.
func (w *Web) GiveBack(from netip.Addr, who string) {
	w.byOrigin.giveBack(addressKey(from))
	if who != "" {
		w.byUser.giveBack(record.Fold(who))
	}
}

// allowed counts a request from an address.
func (w *Web) allowed(from netip.Addr) bool {
	key := addressKey(from)
	return w.work.allow(key) && w.byOrigin.allow(key)
}

// SameSite is an error for what another site's page made a browser send.
func (w *Web) SameSite(r *http.Request) error { return w.sameSite(r) }
