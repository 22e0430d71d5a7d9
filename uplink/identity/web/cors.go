package web

import (
	"net/http"
	"slices"
)

// CORS lets a page of an origin that is configured read an answer and send the browser's cookies
// along. Other origins get no such leave: what is behind this is let in by cookies. allow are the
// methods of the path, for a browser that asks first.
func (w *Web) CORS(rw http.ResponseWriter, r *http.Request, allow string) {
	if !w.trusts(r) {
		return
	}
	h := rw.Header()
	h.Set("Access-Control-Allow-Origin", r.Header.Get("Origin"))
	h.Set("Access-Control-Allow-Credentials", "true")
	h.Set("Access-Control-Expose-Headers", "Retry-After")
	if r.Method == http.MethodOptions {
		h.Set("Access-Control-Allow-Methods", allow)
		h.Set("Access-Control-Allow-Headers", "Authentication, Authorization, Content-Type, Accept, Accept-Language")
		h.Set("Access-Control-Max-Age", "86400")
	}
}

// trusts reports whether a request comes from a page of an origin that is configured.
func (w *Web) trusts(r *http.Request) bool {
	return slices.Contains(w.o.Origins, r.Header.Get("Origin"))
}
