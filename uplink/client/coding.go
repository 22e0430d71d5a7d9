package client

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
)

// packAbove is the size from which on packing saves a packet.
const packAbove = 1400

// coding decides whether bodies are packed with gzip: once the service has said that it takes them
// so, by the header Accept-Encoding in an answer (RFC 7694), and until it, or what stands before
// it, did not understand one. Safe for concurrent use.
type coding struct {
	taken, spoilt atomic.Bool
	writers       sync.Pool
}

// learn takes in an answer's header.
func (c *coding) learn(h http.Header) {
	for _, part := range strings.Split(h.Get("Accept-Encoding"), ",") {
		name, weight, _ := strings.Cut(part, ";")
		if strings.EqualFold(strings.TrimSpace(name), "gzip") && strings.ReplaceAll(weight, " ", "") != "q=0" {
			c.taken.Store(true)
		}
	}
}

// pack is the body as it goes out, and the value of Content-Encoding, "" for none.
func (c *coding) pack(body []byte) ([]byte, string) {
	if len(body) < packAbove || !c.taken.Load() || c.spoilt.Load() {
		return body, ""
	}
	var out bytes.Buffer
	w, ok := c.writers.Get().(*gzip.Writer)
	if ok {
		w.Reset(&out)
	} else {
		w, _ = gzip.NewWriterLevel(&out, gzip.BestSpeed) // the level is a good one
	}
	defer c.writers.Put(w)
	_, _ = w.Write(body) // a buffer takes everything
	_ = w.Close()
	return out.Bytes(), "gzip"
}

// misunderstood says whether an answer to a packed body may be about the packing. Then the body
// goes once more as it is; an answer that names the packing ends packing altogether.
func (c *coding) misunderstood(status int) bool {
	switch status {
	case http.StatusUnsupportedMediaType:
		c.spoilt.Store(true)
		return true
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusNotImplemented:
		return true
	}
	return false
}
