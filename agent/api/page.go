package api

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
var pageFiles embed.FS

// pagePolicy lets the page load its own two files and the stills that it fetched itself; no inline script, no frame, no other host.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// pageFile is one embedded file.
type pageFile struct {
	content    []byte
	kind, etag string
}

// page makes the handler of the page for people on the LAN: the cameras with their newest still, what happened, and
// what is wrong first. It is three embedded files and no program: everything that it shows it asks of the interface as
// any other client does, with the rights of whoever signed in. Nothing is loaded from elsewhere, so it works on a site
// without internet; a strict content security policy sees to that. page serves: GET and HEAD of /, /page.js and /page.css; everything else is not found. It is safe for concurrent use.
func page() http.Handler {
	all := map[string]pageFile{}
	for name, kind := range map[string]string{"index.html": "text/html; charset=utf-8", "page.js": "text/javascript; charset=utf-8", "page.css": "text/css; charset=utf-8"} {
		content, err := pageFiles.ReadFile(path.Join("page", name))
		if err != nil {
			panic(err) // it is embedded
		}
		sum := sha256.Sum256(content)
		all["/"+name] = pageFile{content, kind, `"` + hex.EncodeToString(sum[:8]) + `"`}
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
		h.Set("Content-Security-Policy", pagePolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-cache") // asked anew, answered by 304 until the program changes
		h.Set("ETag", f.etag)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.content))
	})
}
