package web

import (
	"net/http"
	"net/netip"

	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/session"
)

// The checks that other handlers share with this one, so that nobody guesses at two of them
// twice as fast: identity/oauth uses them.

// Behind gives the requests to next with the client's address in place of that of a proxy that is
// believed, so that what stands behind it need not know of proxies.
func (w *Web) Behind(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if at, err := netip.ParseAddrPort(r.RemoteAddr); err == nil && w.proxy(at.Addr().Unmap()) {
			r2 := *r
			r2.RemoteAddr, r = netip.AddrPortFrom(w.Client(r), at.Port()).String(), &r2
		}
		next.ServeHTTP(rw, r)
	})
}

// Allow counts a request about a user, "" for nobody, and says whether it is let through. next is
// the request in its turn for what costs much; right makes it count no more as a guess.
func (w *Web) Allow(r *http.Request, who string) (next *http.Request, right func(), ok bool, err error) {
	g := w.guess(r)
	if !g.address() {
		return r, nil, false, nil
	}
	ok, err = g.about(model.Fold(who))
	return g.inTurn(r), g.giveBack, ok, err
}

// SignedIn sets the cookies of a session that was just opened. Call SameSite before it is.
func (w *Web) SignedIn(rw http.ResponseWriter, r *http.Request, o session.Opened) {
	(&call{Web: w, w: rw, r: r}).signedIn(o)
}
