// Package web is the page for people, of the bridge and of the service: sign-in, the wall of
// cameras, one camera with its timeline, events, and what each has alone. It is embedded files and
// no program: what the page shows it asks of the interface (uplink/server, uplink/identity) as any
// other client does, with the rights of whoever signed in. Nothing is loaded from elsewhere, so it
// works on a site without internet; a strict content security policy sees to that.
//
//	mux.Handle("/", web.Handler(web.Bridge))
package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"mime"
	"net/http"
	"path"
	"strings"
	"time"

	"vmsbridge/uplink/route"
)

//go:embed files
var files embed.FS

// policy lets the page load its own files and images; no inline script or style, no frame, no other
// host.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Side says whose page it is. Its name is that of the folder with what it has alone: side.js, which
// the modules that both have import, and views.html, which goes into index.html.
type Side string

// The sides.
const (
	Bridge  Side = "bridge"
	Service Side = "service"
)

// file is one embedded file, plain and packed.
type file struct {
	plain, packed []byte
	kind, etag    string
}

// Handler serves GET and HEAD of / and of the page's files; everything else is not found. It is
// safe for concurrent use.
func Handler(of Side) http.Handler {
	all := load(of)
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
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-cache") // asked anew, answered by 304 until the program changes
		h.Set("Vary", "Accept-Encoding")
		content := f.plain
		etag := `"` + f.etag + `"`
		if route.TakesGzip(r) && r.Header.Get("Range") == "" {
			content = f.packed
			h.Set("Content-Encoding", "gzip")
			etag = `"` + f.etag + `z"`
		}
		h.Set("ETag", etag)
		if route.Known(r, etag) {
			h.Del("Content-Encoding")
			w.WriteHeader(http.StatusNotModified)
			return
		}
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	})
}

// load reads the embedded files of a side, by their paths.
func load(of Side) map[string]file {
	const root = "files"
	all := map[string]file{}
	views := read(path.Join(root, string(of), "views.html"))
	for _, dir := range []string{root, path.Join(root, string(of))} {
		entries, err := files.ReadDir(dir)
		if err != nil {
			panic(err) // it is embedded
		}
		for _, e := range entries {
			if !e.IsDir() {
				all["/"+e.Name()] = pack(e.Name(), bytes.Replace(read(path.Join(dir, e.Name())), []byte("<!--views-->"),
					views, 1))
			}
		}
	}
	all["/"] = all["/index.html"]
	delete(all, "/index.html")
	delete(all, "/views.html")
	return all
}

func read(name string) []byte {
	content, err := files.ReadFile(name)
	if err != nil {
		panic(err) // it is embedded
	}
	return content
}

func pack(name string, content []byte) file {
	var packed bytes.Buffer
	z, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression) // the level is a known one
	_, _ = z.Write(content)                                    // to memory
	_ = z.Close()
	sum := sha256.Sum256(content)
	return file{content, packed.Bytes(), kindOf(name), hex.EncodeToString(sum[:8])}
}

// kindOf is the content type of a file. That of scripts does not depend on what the machine knows.
func kindOf(name string) string {
	if strings.HasSuffix(name, ".js") {
		return "text/javascript; charset=utf-8"
	}
	return mime.TypeByExtension(path.Ext(name))
}
