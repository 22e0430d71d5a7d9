// Package web is the page for people on the LAN: the cameras with their newest still, what
// happened, and what is wrong first. It is three embedded files and no program: everything that it
// shows, it asks of the interface (/api/v3.0/…, /g/…, /healthz) as any other client does, with the
// rights of whoever signed in. The agent's local API mounts it at /:
//
//	mux.Handle("/", web.New())
//
// Nothing is loaded from elsewhere, so it works on a site without internet; a strict content
// security policy sees to that.
package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"path"
	"time"
)

//go:embed page
var files embed.FS

// policy lets the page load its own two files and the stills that it fetched itself; no inline
// script, no frame, no other host.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src blob:; connect-src 'self'; base-uri " +
	"'none'; form-action 'none'; frame-ancestors 'none'"

// file is one embedded file.
type file struct {
	content    []byte
	kind, etag string
}

// New makes the handler of the page: GET and HEAD of /, /page.js and /page.css; everything else is
// not found. It is safe for concurrent use.
func New() http.Handler {
	all := map[string]file{}
	for name, kind := range map[string]string{"index.html": "text/html; charset=utf-8",
		"page.js": "text/javascript; charset=utf-8", "page.css": "text/css; charset=utf-8"} {
		content, err := files.ReadFile(path.Join("page", name))
		if err != nil {
			panic(err) // it is embedded
		}
		sum := sha256.Sum256(content)
		all["/"+name] = file{content, kind, `"` + hex.EncodeToString(sum[:8]) + `"`}
	}
	all["/"] = all["/index.html"]
	delete(all, "/index.html")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f, ok := all[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "the page is only read", http.StatusMethodNotAllowed)
			return
		}
		h := w.Header()
		h.Set("Content-Type", f.kind)
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-cache") // asked anew, answered by 304 until the program changes
		h.Set("ETag", f.etag)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.content))
	})
}
