package server

import (
	"encoding/json"
	"fmt"
	"html"
	"image/color"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"vmsbridge/uplink/vms"
)

// Arguments that change an image on its way out.
const (
	argWidth    = "targetWidth"
	argHeight   = "targetHeight"
	argCrop     = "xywh" // W3C Media Fragments 1.0, §4.2.2: percent:LEFT,TOP,WIDTH,HEIGHT
	argOverlays = "overlayId__in"

	overlayEmbedded = "overlayEmbedded"  // boxes and regions are drawn
	overlayHeader   = "overlaySvgHeader" // they are told in the header X-Een-OverlaySvg
)

var wishArgs = []string{argWidth, argHeight, argCrop, argOverlays, "include"}

// imageWish is what a caller wants done with an image. A page token keeps it, so that the
// neighbours look alike.
type imageWish struct {
	Width    int      `json:"w,omitempty"`
	Height   int      `json:"h,omitempty"`
	Crop     box      `json:"c,omitzero"`
	Overlays []string `json:"o,omitempty"` // types of events
	Embed    bool     `json:"e,omitempty"`
	Header   bool     `json:"s,omitempty"`
}

// readWish reads it. The bounds are those of the public service.
func readWish(a *args) (w imageWish) {
	size := func(name string, least, most int) int {
		v := a.one(name)
		if v == "" {
			return 0
		}
		n, err := strconv.Atoi(v)
		if err != nil || n < least || n > most {
			a.bad(name, fmt.Sprintf("must be a number from %d to %d", least, most))
		}
		return n
	}
	w.Width, w.Height = size(argWidth, 32, 7680), size(argHeight, 32, 4320)
	if v := a.one(argCrop); v != "" {
		var x, y, width, height float64
		n, err := fmt.Sscanf(v, "percent:%f,%f,%f,%f", &x, &y, &width, &height)
		w.Crop = box{Left: x / 100, Top: y / 100, Right: (x + width) / 100, Bottom: (y + height) / 100}
		if n != 4 || err != nil || !(x >= 0 && y >= 0 && width > 0 && height > 0 && x+width <= 100.01 &&
			y+height <= 100.01) {
			a.bad(argCrop, "must look like percent:LEFT,TOP,WIDTH,HEIGHT within the picture")
		}
	}
	for _, v := range a.list("include") {
		switch v {
		case overlayEmbedded:
			w.Embed = true
		case overlayHeader:
			w.Header = true
		default:
			a.bad("include", "can be "+overlayEmbedded+" and "+overlayHeader)
		}
	}
	if w.Overlays = a.canonicalList(argOverlays); (w.Embed || w.Header) && len(w.Overlays) == 0 {
		a.miss(argOverlays)
	}
	return w
}

// nothing says whether an image can go out as it is.
func (w imageWish) nothing() bool {
	return w.Width == 0 && w.Height == 0 && w.Crop == box{} && !w.Embed && !w.Header
}

// name tells images apart that were changed in different ways.
func (w imageWish) name() string {
	if w.nothing() {
		return ""
	}
	raw, _ := json.Marshal(w) // numbers and strings
	return fmt.Sprintf("-%x", hashBytes(raw)[:6])
}

// changed is an image with the wishes fulfilled.
func (s *Server) changed(c *call, want imageToken, img Image) (Image, error) {
	w := want.Wish
	if w.nothing() {
		return img, nil
	}
	var shapes []shape
	if w.Embed || w.Header {
		var svg string
		var err error
		if shapes, svg, err = s.overlays(c, want, img.Time); err != nil {
			return img, err
		}
		if !w.Embed {
			shapes = nil
		}
		if w.Header {
			for _, prefix := range []string{"X-Een-", "X-Vms-"} {
				c.w.Header().Set(prefix+vms.HeaderOverlay, svg)
			}
		}
	}
	if len(shapes) == 0 && w.Crop == (box{}) && w.Width == 0 && w.Height == 0 {
		return img, nil
	}
	whole, err := io.ReadAll(io.LimitReader(img.Body, maxWhole))
	if err != nil {
		return img, brokenOff()
	}
	whole, err = changeImage(whole, w, shapes)
	if err != nil {
		return img, vms.NewError(http.StatusUnprocessableEntity, vms.ReasonValue,
			"This image cannot be changed ("+err.Error()+"); ask for it without "+argWidth+", "+argCrop+" and overlays")
	}
	img.Body, img.Length = io.NopCloser(strings.NewReader(string(whole))), int64(len(whole))
	return img, nil
}

// Bounds of what is drawn over an image.
const (
	overlayEvents = 50             // that began last before it
	overlaySlack  = time.Second    // between an image and the box of what is in it
	overlayOld    = 24 * time.Hour // an event that began before that is not looked for
	maxOverlays   = 64             // shapes
	maxSVG        = 16 << 10       // bytes of a header
)

// overlays are the boxes and regions of the events of some types that go on at a time.
func (s *Server) overlays(c *call, want imageToken, at time.Time) ([]shape, string, error) {
	if err := checkEvents(c); err != nil {
		return nil, "", err
	}
	from, to := vms.At(at.Add(-overlayOld)), vms.At(at.Add(overlaySlack))
	page, err := s.list(c, vms.Query{Actors: []vms.Actor{cameraActor(want.Camera)}, Types: want.Wish.Overlays,
		StartGTE: &from, StartLTE: &to,
		PageSize: overlayEvents}, nil)
	if err != nil {
		return nil, "", err
	}
	var shapes []shape
	var svg strings.Builder
	svg.WriteString(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1" preserveAspectRatio="none">`)
	for _, ev := range page.Events {
		if ev.EndTimestamp != nil && ev.EndTimestamp.Before(at.Add(-overlaySlack)) {
			continue
		}
		for _, d := range ev.Data {
			for _, m := range marksOf(d, at) {
				if len(shapes) >= maxOverlays {
					break
				}
				shapes = append(shapes, m)
				if one := m.svg(); svg.Len()+len(one) < maxSVG {
					svg.WriteString(one)
				}
			}
		}
	}
	svg.WriteString("</svg>")
	return shapes, svg.String(), nil
}

// marksOf are what a data item shows of a picture of a time.
func marksOf(d vms.Data, at time.Time) (all []shape) {
	switch d.Type {
	case vms.SchemaOverlay:
		var item struct {
			Overlays []struct {
				Label, Color string
				Timestamp    vms.Time
				LineWidth    int
				BoundingBox  [4]float64
			}
		}
		if d.Into(&item) != nil {
			return nil
		}
		for _, o := range item.Overlays {
			if o.Timestamp.Sub(at).Abs() > overlaySlack {
				continue
			}
			b := o.BoundingBox
			all = append(all, box{b[0], b[1], b[2], b[3]}.rectangle(colorOf(o.Color), o.LineWidth, o.Label))
		}
	case vms.SchemaMotionRegion, vms.SchemaIntrusionArea, vms.SchemaLoiterArea, vms.SchemaLineCrossLine:
		var item struct {
			Name       string
			Area, Line [][2]float64
		}
		if d.Into(&item) == nil && (len(item.Area) > 2 || len(item.Line) > 1) {
			// A line is an outline without width: it goes there and back.
			all = append(all, shape{append(item.Area, item.Line...), color.RGBA{255, 160, 0, 255}, 2, item.Name})
		}
	}
	return all
}

// colorOf reads "#rrggbb"; anything else is red.
func colorOf(s string) color.RGBA {
	c := color.RGBA{R: 255, A: 255}
	if n, err := strconv.ParseUint(strings.TrimPrefix(s, "#"), 16, 32); err == nil && len(s) == 7 {
		c.R, c.G, c.B = uint8(n>>16), uint8(n>>8), uint8(n)
	}
	return c
}

// svg is the shape as an element, in ASCII, since it goes into a header.
func (s shape) svg() string {
	var points []string
	for _, p := range s.Points {
		points = append(points, fmt.Sprintf("%.4g,%.4g", p[0], p[1]))
	}
	label := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, html.EscapeString(s.label))
	return fmt.Sprintf(`<polygon points="%s" fill="none" stroke="#%02x%02x%02x" stroke-width="%d" vector-effect="non-scaling-stroke"><title>%s</title></polygon>`,
		strings.Join(points, " "), s.Color.R, s.Color.G, s.Color.B, max(s.Width, 1), ascii(label))
}

// ascii writes what is not ASCII as character references.
func ascii(s string) string {
	var out strings.Builder
	for _, r := range s {
		if r < 0x80 {
			out.WriteRune(r)
		} else {
			fmt.Fprintf(&out, "&#%d;", r)
		}
	}
	return out.String()
}

// overlayTypes are the types of events whose marks can be drawn.
var overlayTypes = func() (list []map[string]string) {
	for _, t := range vms.Types() {
		if slices.Contains(t.Schemas, vms.SchemaOverlay) || slices.Contains(t.Schemas, vms.SchemaMotionRegion) {
			list = append(list, map[string]string{"id": t.Type, "name": t.Name, "type": "event"})
		}
	}
	return list
}()
