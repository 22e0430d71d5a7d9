package server

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"vmsbridge/uplink/route"
	"vmsbridge/uplink/vms"
)

// settledTime is how long a browser may keep an image that does not change any more without asking
// again.
const settledTime = "private, max-age=3600"

// maxWhole bounds an image that is held in memory as a whole, for a part of it.
const maxWhole = 32 << 20

// liveImage is GET /media/liveImage.jpeg: the newest image there is.
func (s *Server) liveImage(c *call) error {
	a := c.args
	want := imageToken{Camera: a.need("deviceId"), Kind: a.one("type"), Op: vms.OpBefore,
		Time: time.Now().Add(24 * time.Hour)}
	if want.Kind == "" {
		want.Kind = vms.ImagePreview
	}
	checkImage(a, want)
	want.Wish = readWish(a)
	if err := a.err(); err != nil {
		return err
	}
	img, err := s.image(c, want)
	if err != nil {
		return err
	}
	defer func() { _ = img.Body.Close() }() // nothing is written to it
	at := vms.At(img.Time)
	prev, err := s.imageToken(c, imageToken{want.Camera, want.Kind, vms.OpBefore, at.Time, want.Wish})
	if err != nil {
		return err
	}
	s.imageHeaders(c, at, "", prev)
	return s.sendImage(c, want, img, false)
}

// signed says whether the address itself let the caller in.
func (c *call) signed() bool {
	return c.r.Header.Get("Authorization") == "" && c.r.URL.Query().Has(argSignature)
}

// sendImage writes an image, or as much of it as the client lacks. An image never changes, but
// which one is the newest does: settled says that this address will answer the same again.
func (s *Server) sendImage(c *call, want imageToken, img Image, settled bool) error {
	h := c.w.Header()
	etag := want.tag(img.Time)
	h.Set("Cache-Control", "private, no-cache")
	if etag != "" {
		h.Set("ETag", etag)
	}
	if etag != "" && settled {
		h.Set("Cache-Control", settledTime)
	}
	h.Set("Vary", "Authorization, Cookie")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	if c.r.Header.Get("Authorization") != "" || c.signed() {
		h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	}
	if etag != "" && route.Known(c.r, etag) {
		c.w.WriteHeader(http.StatusNotModified)
		return nil
	}
	img, err := s.changed(c, want, img)
	if err != nil {
		h.Set("Cache-Control", "no-store")
		h.Del("ETag")
		return err
	}
	h.Set("Content-Type", "image/jpeg")
	if c.r.Header.Get("Range") != "" {
		whole, err := io.ReadAll(io.LimitReader(img.Body, maxWhole))
		if err != nil {
			h.Set("Cache-Control", "no-store")
			h.Del("ETag")
			h.Del("Content-Type")
			return brokenOff()
		}
		parts := &rangeWriter{ResponseWriter: c.w}
		http.ServeContent(parts, c.r, "", img.Time, bytes.NewReader(whole))
		if parts.refused {
			h.Set("Cache-Control", "no-store")
			h.Del("ETag")
			return vms.NewError(http.StatusRequestedRangeNotSatisfiable, vms.ReasonValue,
				fmt.Sprintf("The header Range asks for nothing that is there: the image has %d bytes", len(whole)))
		}
		return nil
	}
	h.Set("Accept-Ranges", "bytes")
	if img.Length >= 0 {
		h.Set("Content-Length", strconv.FormatInt(img.Length, 10))
	}
	c.w.WriteHeader(http.StatusOK)
	if c.r.Method == http.MethodHead {
		return nil
	}
	if _, err := io.Copy(c.w, img.Body); err != nil {
		s.log.Debug("an image was not sent to its end", "camera", want.Camera, "error", err)
		panic(http.ErrAbortHandler) // the client must not take half an image for a whole one
	}
	return nil
}

// rangeWriter keeps back the answer of net/http to a range that an image does not have, which is
// plain text.
type rangeWriter struct {
	http.ResponseWriter
	refused bool
}

// WriteHeader is for http.ResponseWriter.
func (w *rangeWriter) WriteHeader(code int) {
	if w.refused = code == http.StatusRequestedRangeNotSatisfiable; !w.refused {
		w.ResponseWriter.WriteHeader(code)
	}
}

// Write is for http.ResponseWriter.
func (w *rangeWriter) Write(p []byte) (int, error) {
	if w.refused {
		return len(p), nil
	}
	return w.ResponseWriter.Write(p)
}

// tag is the entity tag of an image, "" for one that is drawn into: that changes while an event
// goes on.
func (t imageToken) tag(at time.Time) string {
	if t.Wish.Embed || t.Wish.Header {
		return ""
	}
	return vms.ImageTag(t.Kind, at, t.Wish.name())
}

// known is when the image was taken that a list of entity tags is of, zero if it is of none that
// could be asked for.
func (t imageToken) known(list string) time.Time {
	for one := range strings.SplitSeq(list, ",") {
		one = strings.TrimPrefix(strings.TrimSpace(one), "W/")
		_, rest, _ := strings.Cut(one, "-")
		ms, err := strconv.ParseInt(rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789abcdef"))], 16, 64)
		if at := time.UnixMilli(ms).UTC(); err == nil && t.tag(at) == one {
			return at
		}
	}
	return time.Time{}
}

// brokenOff is the answer where an image did not come to its end from the bridge that has it.
func brokenOff() error {
	return vms.NewError(http.StatusServiceUnavailable, vms.ReasonDeviceUnavailable,
		"The image broke off on its way here; ask again")
}
