package chart

import (
	"image"
	"image/color"
	"strconv"
	"time"

	"golang.org/x/image/draw"
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

// apart are the columns of the stills' numbers: above their times, or beside them where they would
// hide each other. Stills are in the order of time.
func apart(stills []Still, x func(time.Duration) int) []int {
	const width = 24
	at := make([]int, len(stills))
	for i, s := range stills {
		if at[i] = x(s.At); i > 0 {
			at[i] = max(at[i], at[i-1]+width)
		}
	}
	end := plotRight + width
	for i := len(at) - 1; i >= 0 && at[i] > end-width; i-- {
		at[i] = end - width
		end = at[i]
	}
	return at
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
func (c Chart) drawStill(p *canvas, i int, s Still, at image.Point) {
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
	draw.CatmullRom.Scale(p.RGBA, place, tinted, b, draw.Src, nil)
	for _, a := range c.Areas {
		corners := make([]point, len(a.Corners))
		for k, q := range a.Corners {
			corners[k] = point{float64(place.Min.X) + q[0]*float64(w), float64(place.Min.Y) + q[1]*float64(h)}
		}
		if a.Mask {
			p.polygon(corners, color.NRGBA{A: 0x90})
			continue
		}
		p.outline(corners, 1.6, a.Colour)
	}
	for _, q := range s.Boxes {
		r := image.Rect(place.Min.X+int(q[0]*float64(w)), place.Min.Y+int(q[1]*float64(h)),
			place.Min.X+int(q[2]*float64(w)+0.5), place.Min.Y+int(q[3]*float64(h)+0.5))
		p.frame(r.Inset(-1).Intersect(place), 4, color.NRGBA{A: 0x60})
		p.frame(r.Intersect(place), 2, Amber)
	}
	p.frame(place.Inset(-1), 1, grid)
	p.badge(at.X+17, at.Y+17, strconv.Itoa(i+1), ink)
	p.text(at.X, at.Y+h+20, shorten(p.bold, s.Caption[0], stillWidth), p.bold, ink, left)
	p.text(at.X, at.Y+h+38, shorten(p.small, s.Caption[1], stillWidth), p.small, muted, left)
}
