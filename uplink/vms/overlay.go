package vms

import (
	"net/url"
	"slices"
	"strings"
)

// SchemaFullFrameOverlay tells where the whole picture of an event is to be had with its boxes:
// drawn into it, or as SVG in a header.
const SchemaFullFrameOverlay = "vms.fullFrameImageUrlWithOverlay.v1"

// FullFrameImageURLWithOverlay is such an item; its creator is always CreatorOverlays.
func FullFrameImageURLWithOverlay(svgHeaderURL, embeddedURL string) Data {
	return item(struct {
		head
		SVGHeader string `json:"overlaySvgHeaderUrl"`
		Embedded  string `json:"overlayEmbeddedUrl"`
	}{head{SchemaFullFrameOverlay, CreatorOverlays}, svgHeaderURL, embeddedURL})
}

// WithOverlayImage is the event with the address of its picture with its boxes, if it has boxes,
// and a picture here, of the actor's own camera, and no such address yet. It is made when the event
// is handed out, as it says nothing that the event does not. The event given is not changed.
func (e Event) WithOverlayImage() Event {
	if !slices.Contains(e.DataSchemas, SchemaOverlay) || slices.Contains(e.DataSchemas, SchemaFullFrameOverlay) {
		return e
	}
	for _, d := range e.Data {
		var frame struct {
			HTTPSURL string `json:"httpsUrl"`
		}
		if d.Type != SchemaFullFrame || d.Into(&frame) != nil ||
			!strings.Contains(frame.HTTPSURL+"&", string(imageStart)+url.QueryEscape(e.ActorID)+"&") {
			continue
		}
		with := frame.HTTPSURL + "&overlayId__in=" + url.QueryEscape(e.Type) + "&include="
		overlay := FullFrameImageURLWithOverlay(with+"overlaySvgHeader", with+"overlayEmbedded")
		e.Data = append(slices.Clip(e.Data), overlay)
		e.DataSchemas = append(slices.Clip(e.DataSchemas), SchemaFullFrameOverlay)
		return e
	}
	return e
}
