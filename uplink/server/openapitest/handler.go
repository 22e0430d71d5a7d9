package openapitest

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// toldTo names the file to which programs that are built with the tag heldanswers write what is
// wrong with their answers, a line each, and in the file beside it, ….held, a byte for each answer
// that they looked at.
const toldTo = "VMS_HELD_ANSWERS"

// mostHeld bounds the bodies that are looked at, in bytes: longer ones take the checks too long
// with the race detector.
const mostHeld = 64 << 10

// Handler is h, whose answers are held against its own document where Run is above this program.
func Handler(h http.Handler) http.Handler {
	path := os.Getenv(toldTo)
	if path == "" {
		return h
	}
	document := sync.OnceValues(func() (*Doc, error) {
		return fetch(context.Background(), asTransport{h}, "http://bridge.invalid")
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/api/v3.0/") || r.URL.Path == pathDocument {
			h.ServeHTTP(w, r)
			return
		}
		c := &copied{ResponseWriter: w, code: http.StatusOK}
		h.ServeHTTP(c, r)
		// What has taken the connection over wrote nothing here; an answer to who has gone was cut.
		if !c.wrote || c.body.Len() > mostHeld || r.Context().Err() != nil {
			return
		}
		doc, err := document()
		body := c.body.Bytes()
		if err == nil {
			if r.Method != http.MethodHead {
				body, err = unpacked(c.Header(), body)
			}
			if err == nil {
				err = doc.check(r.Method, r.URL, c.code, c.Header(), body)
			}
		}
		add(path+".held", ".")
		if err != nil {
			add(path, fmt.Sprintf("%s: %s\n", filepath.Base(os.Args[0]), strings.ReplaceAll(err.Error(), "\n", " ")))
		}
	})
}

// add appends to a file, which several processes do.
func add(path, text string) {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.WriteString(text)
		_ = f.Close()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "tell of an answer:", err)
	}
}

// copied keeps what a handler answers in JSON.
type copied struct {
	http.ResponseWriter
	code  int
	wrote bool
	body  bytes.Buffer
}

func (c *copied) WriteHeader(code int) {
	if !c.wrote && code >= 200 {
		c.code, c.wrote = code, true
	}
	c.ResponseWriter.WriteHeader(code)
}

func (c *copied) Write(b []byte) (int, error) {
	c.wrote = true
	if strings.HasPrefix(c.Header().Get("Content-Type"), listed) && c.body.Len() <= mostHeld {
		c.body.Write(b)
	}
	return c.ResponseWriter.Write(b)
}

// Unwrap is for http.ResponseController: streams flush, and tunnels take the connection over.
func (c *copied) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// asTransport asks a handler.
type asTransport struct{ h http.Handler }

func (a asTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(r.Context(), time.Minute)
	defer cancel()
	w := httptest.NewRecorder()
	a.h.ServeHTTP(w, r.WithContext(ctx))
	return w.Result(), nil
}
