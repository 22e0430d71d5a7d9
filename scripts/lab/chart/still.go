package chart

import (
	"image"
	"image/color"
	"time"

	xdraw "golang.org/x/image/draw"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Still is a sample picture.
type Still struct {
	At      time.Duration
	Luma    *image.Gray
	Moving  []byte       // 255 where something moves, of the size of Luma; nil for nowhere
	Boxes   [][4]float64 // left, top, right, bottom in fractions
	Caption [2]string
}

// Area is a region, or a mask, in fractions of the picture.
type Area struct {
	Corners [][2]float64
	Colour  color.NRGBA
	Mask    bool // never looked at: darkened
}

// stillHeight is the height of all stills: of the tallest.
func (c Chart) stillHeight() int {
	h := 1
	for _, s := range c.Stills {
		b := s.Luma.Bounds()
		h = max(h, stillWidth*b.Dy()/max(1, b.Dx()))
	}
	return min(h, maxStill)
}

// drawStill draws a still, what moves in it, and its caption.
func (c Chart) drawStill(p page, i int, s Still, at image.Point) {
	b := s.Luma.Bounds()
	w, h := stillWidth, max(1, stillWidth*b.Dy()/max(1, b.Dx()))
	if h > maxStill {
		w, h = max(1, maxStill*b.Dx()/b.Dy()), maxStill
	}
	place := image.Rectangle{Min: at, Max: at.Add(image.Pt(w, h))}
	tinted := image.NewRGBA(b)
	for k, v := range s.Luma.Pix {
		r, g, bl := uint(v), uint(v), uint(v)
		if s.Moving != nil && s.Moving[k] != 0 {
			r, g, bl = (11*r+5*uint(Amber.R))/16, (11*g+5*uint(Amber.G))/16, (11*bl+5*uint(Amber.B))/16
		}
		copy(tinted.Pix[4*k:], []byte{byte(r), byte(g), byte(bl), 255})
	}
	xdraw.CatmullRom.Scale(p.image, place, tinted, b, xdraw.Src, nil)
	// on is where fractions of the picture are on the page, closed to an outline.
	on := func(corners ...[2]float64) (points []vg.Point) {
		for _, q := range corners {
			points = append(points, p.at(float64(at.X)+q[0]*float64(w), float64(at.Y)+q[1]*float64(h)))
		}
		return append(points, points[0])
	}
	frame := func(width vg.Length, colour color.Color, corners ...[2]float64) {
		p.StrokeLines(draw.LineStyle{Color: colour, Width: width}, on(corners...))
	}
	for _, a := range c.Areas {
		if len(a.Corners) < 3 {
			continue
		}
		if a.Mask {
			p.FillPolygon(color.NRGBA{A: 0x90}, on(a.Corners...))
			continue
		}
		frame(1.6, a.Colour, a.Corners...)
	}
	box := func(q [4]float64) [][2]float64 {
		return [][2]float64{{q[0], q[1]}, {q[2], q[1]}, {q[2], q[3]}, {q[0], q[3]}}
	}
	for _, q := range s.Boxes {
		frame(5, color.NRGBA{A: 0x60}, box(q)...)
		frame(2, Amber, box(q)...)
	}
	frame(1, grid, box([4]float64{0, 0, 1, 1})...)
	number(p.Canvas, p.at(float64(at.X+17), float64(at.Y+17)), i)
	p.write(16, font.Font{Weight: bold}, ink, at.X, at.Y+h+20, stillWidth, s.Caption[0])
	p.write(14, font.Font{}, muted, at.X, at.Y+h+38, stillWidth, s.Caption[1])
}
