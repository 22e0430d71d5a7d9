package chart

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"math"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

// canvas is a picture and what is needed to draw on it.
type canvas struct {
	*image.RGBA
	small, plain, bold, title font.Face
}

func newCanvas(w, h int) (*canvas, error) {
	c := &canvas{RGBA: image.NewRGBA(image.Rect(0, 0, w, h))}
	for _, f := range []struct {
		to   *font.Face
		ttf  []byte
		size float64
	}{{&c.small, goregular.TTF, 14}, {&c.plain, goregular.TTF, 16}, {&c.bold, gobold.TTF, 16},
		{&c.title, gobold.TTF, 26}} {
		parsed, err := opentype.Parse(f.ttf)
		if err != nil {
			return nil, fmt.Errorf("read font: %w", err)
		}
		if *f.to, err = opentype.NewFace(parsed, &opentype.FaceOptions{Size: f.size, DPI: 72,
			Hinting: font.HintingFull}); err != nil {
			return nil, fmt.Errorf("prepare font: %w", err)
		}
	}
	c.fill(c.Bounds(), white)
	return c, nil
}

func (c *canvas) fill(r image.Rectangle, col color.Color) {
	draw.Draw(c, r, image.NewUniform(col), image.Point{}, draw.Over)
}

// frame draws a rectangle's edges, inside of it.
func (c *canvas) frame(r image.Rectangle, thick int, col color.Color) {
	c.fill(image.Rect(r.Min.X, r.Min.Y, r.Max.X, r.Min.Y+thick), col)
	c.fill(image.Rect(r.Min.X, r.Max.Y-thick, r.Max.X, r.Max.Y), col)
	c.fill(image.Rect(r.Min.X, r.Min.Y+thick, r.Min.X+thick, r.Max.Y-thick), col)
	c.fill(image.Rect(r.Max.X-thick, r.Min.Y+thick, r.Max.X, r.Max.Y-thick), col)
}

// align says which end of a text is at the place that is given.
type align int

const (
	left align = iota
	centre
	right
)

// text draws a line of text; y is its base line.
func (c *canvas) text(x, y int, s string, face font.Face, col color.Color, a align) {
	switch w := width(face, s); a {
	case centre:
		x -= w / 2
	case right:
		x -= w
	}
	d := font.Drawer{Dst: c, Src: image.NewUniform(col), Face: face, Dot: fixed.P(x, y)}
	d.DrawString(s)
}

// upward draws a text turned to the left, centred at y, with its base line at x.
func (c *canvas) upward(x, y int, s string, face font.Face, col color.Color) {
	w, h := width(face, s), face.Metrics().Height.Ceil()
	flat := image.NewAlpha(image.Rect(0, 0, w, h+4))
	d := font.Drawer{Dst: flat, Src: image.Opaque, Face: face, Dot: fixed.P(0, h)}
	d.DrawString(s)
	turned := image.NewAlpha(image.Rect(0, 0, h+4, w))
	for i := range w {
		for j := range h + 4 {
			turned.SetAlpha(j, w-1-i, flat.AlphaAt(i, j))
		}
	}
	draw.DrawMask(c, image.Rect(x-h, y-w/2, x+4, y-w/2+w), image.NewUniform(col), image.Point{}, turned, image.Point{},
		draw.Over)
}

func width(face font.Face, s string) int { return font.MeasureString(face, s).Ceil() }

// shorten cuts a text to a width.
func shorten(face font.Face, s string, most int) string {
	if width(face, s) <= most {
		return s
	}
	r := []rune(s)
	for len(r) > 1 && width(face, string(r)+"…") > most {
		r = r[:len(r)-1]
	}
	return string(r) + "…"
}

// point is a place between pixels.
type point struct{ x, y float64 }

// polygon fills an area.
func (c *canvas) polygon(corners []point, col color.Color) {
	if len(corners) < 3 {
		return
	}
	lo, hi := corners[0], corners[0]
	for _, q := range corners[1:] {
		lo, hi = point{min(lo.x, q.x), min(lo.y, q.y)}, point{max(hi.x, q.x), max(hi.y, q.y)}
	}
	box := image.Rect(int(math.Floor(lo.x)), int(math.Floor(lo.y)), int(math.Ceil(hi.x))+1,
		int(math.Ceil(hi.y))+1).Intersect(c.Bounds())
	if box.Empty() {
		return
	}
	r := vector.NewRasterizer(box.Dx(), box.Dy())
	at := func(q point) (x, y float32) {
		return float32(q.x - float64(box.Min.X)), float32(q.y - float64(box.Min.Y))
	}
	r.MoveTo(at(corners[0]))
	for _, q := range corners[1:] {
		r.LineTo(at(q))
	}
	r.ClosePath()
	r.Draw(c, box, image.NewUniform(col), image.Point{})
}

// outline draws an area's edges.
func (c *canvas) outline(corners []point, thick float64, col color.Color) {
	for i, a := range corners {
		b := corners[(i+1)%len(corners)]
		l := math.Hypot(b.x-a.x, b.y-a.y)
		if l == 0 {
			continue
		}
		dx, dy := (b.x-a.x)/l*thick/2, (b.y-a.y)/l*thick/2
		c.polygon([]point{{a.x - dx - dy, a.y - dy + dx}, {b.x + dx - dy, b.y + dy + dx},
			{b.x + dx + dy, b.y + dy - dx}, {a.x - dx + dy, a.y - dy - dx}}, col)
	}
}

// badge draws a number in a filled circle around x, y.
func (c *canvas) badge(x, y int, s string, col color.Color) {
	const sides, radius = 32, 11
	var corners []point
	for i := range sides {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / sides)
		corners = append(corners, point{float64(x) + radius*cos, float64(y) + radius*sin})
	}
	c.polygon(corners, col)
	c.text(x, y+5, s, c.small, white, centre)
}
