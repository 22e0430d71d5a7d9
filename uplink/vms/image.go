package vms

import (
	"bytes"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
)

// PathImage is where recorded images are asked for, PathLiveImage the newest one, PathMedia when
// there are any, PathEvents where events are listed and
// reported, PathRegister where a bridge tells the service its cameras, PathCameras where those are
// listed.
const (
	PathLiveImage = "/api/v3.0/media/liveImage.jpeg"
	PathImage     = "/api/v3.0/media/recordedImage.jpeg"
	PathEvents    = "/api/v3.0/events"
	PathMedia     = "/api/v3.0/media"
	PathRegister  = "/api/v3.0/bridges:register"
	PathLeave     = "/api/v3.0/bridges:leave"
	PathCameras   = "/api/v3.0/cameras"
)

// HeaderCamera says for which camera the service asks a bridge. Through a tunnel, the bridge
// answers nothing without it.
const HeaderCamera = "X-Vms-Camera"

// Kinds of recorded image: from the stream used for motion, and at full resolution.
const (
	ImagePreview = "preview"
	ImageMain    = "main"
)

// Ops of a recorded image request, which are the names of its query parameters: the newest image
// before a time, at it or before, at exactly that time, the oldest at it or after, after it.
const (
	OpBefore     = "timestamp__lt"
	OpAtOrBefore = "timestamp__lte"
	OpAt         = "timestamp"
	OpAtOrAfter  = "timestamp__gte"
	OpAfter      = "timestamp__gt"
)

// Ops lists them all.
var Ops = [5]string{OpBefore, OpAtOrBefore, OpAt, OpAtOrAfter, OpAfter}

// Names, without their prefix "X-Vms-" or "X-Een-", of the headers of an image's answer. A server
// sends both.
const (
	HeaderTimestamp = "Timestamp"
	HeaderNextToken = "NextToken"
	HeaderPrevToken = "PrevToken"
	HeaderOverlay   = "OverlaySvg"
)

// ImageTag is the entity tag of an image of a kind; form tells one that was made of it, "" is the
// image as it was taken.
func ImageTag(kind string, at time.Time, form string) string {
	return fmt.Sprintf(`"%s-%x%s"`, kind[:1], at.UnixMilli(), form)
}

// ImageURL is the address of a recorded image of a camera at the server with the given base
// address. op is one of the Op constants; "lt" and so on are accepted for them.
func ImageURL(base, deviceID, kind, op string, at time.Time) string {
	return strings.TrimRight(base, "/") + PathImage + "?deviceId=" + url.QueryEscape(deviceID) +
		"&type=" + url.QueryEscape(kind) + "&" + longOp(op) + "=" + url.QueryEscape(At(at).String())
}

func longOp(op string) string {
	switch {
	case op == "":
		return OpAt
	case strings.HasPrefix(op, OpAt):
		return op
	}
	return OpAt + "__" + op
}

// WithImagesAt is the event with the addresses of its actor's recorded images at the server with
// another base address: that of whoever hands the event out. Addresses of other servers' images, of
// other paths or other devices, stay. The event given is not changed.
func (e Event) WithImagesAt(base string) Event {
	base = strings.TrimRight(base, "/")
	var data []Data
	for i, d := range e.Data {
		moved, ok := d.imagesAt(base, e.ActorID)
		if !ok {
			continue
		}
		if data == nil {
			data = slices.Clone(e.Data)
		}
		data[i] = moved
	}
	if data != nil {
		e.Data = data
	}
	return e
}

var imageStart = []byte(PathImage + "?deviceId=")

// imagesAt is the item with its addresses at base, ok false if it has none to move. It works on the
// item's own bytes: an address is what stands between the quotes around PathImage.
func (d Data) imagesAt(base, deviceID string) (moved Data, ok bool) {
	var out []byte
	done := 0
	device := []byte(url.QueryEscape(deviceID))
	for from := 0; ; {
		at := bytes.Index(d.raw[from:], imageStart)
		if at < 0 {
			break
		}
		at += from
		from = at + len(imageStart)
		quote := bytes.LastIndexByte(d.raw[:at], '"')
		rest := d.raw[from:]
		if quote < done || !bytes.HasPrefix(rest, device) || len(rest) > len(device) && isIDByte(rest[len(device)]) ||
			!bytes.HasPrefix(d.raw[quote+1:at], []byte("http")) || string(d.raw[quote+1:at]) == base {
			continue
		}
		out = append(append(out, d.raw[done:quote+1]...), base...)
		done = at
	}
	if out == nil {
		return d, false
	}
	d.raw = append(out, d.raw[done:]...)
	return d, true
}

// isIDByte reports whether an id in an address goes on with a byte.
func isIDByte(c byte) bool {
	return c == '%' || c == '-' || c == '_' || c == '.' || c == '~' || c == '+' || '0' <= c && c <= '9' ||
		'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
