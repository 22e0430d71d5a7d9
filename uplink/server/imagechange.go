package server

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	stdjpeg "image/jpeg"
	"math"
	"runtime"

	"golang.org/x/image/draw"
)

// maxChanged bounds what is decoded: 8K, at three bytes a pixel.
const maxChanged = 7680 * 4320

// changedQuality is that of the JPEG that comes out.
const changedQuality = 85

// changing bounds how many pictures are worked on at a time, and so the memory they take.
var changing = make(chan struct{}, max(1, runtime.NumCPU()/2))

// errTooLarge says that a picture has too many pixels to be worked on.
var errTooLarge = errors.New("the picture is too large")

// box is a part of a picture in fractions of its sides, from the left and the top.
type box struct{ Left, Top, Right, Bottom float64 }

// shape is a line to draw, a closed polygon of points in fractions, with its name.
type shape struct {
	Points [][2]float64
	Color  color.RGBA
	Width  int // in pixels
	label  string
}

// rectangle is the shape of a box.
func (b box) rectangle(c color.RGBA, width int, label string) shape {
	return shape{[][2]float64{{b.Left, b.Top}, {b.Right, b.Top}, {b.Right, b.Bottom}, {b.Left, b.Bottom}}, c, width,
		label}
}

// changeImage draws shapes on a JPEG, cuts a part out and makes it smaller, in this order: to fit
// into a width and a height with the proportions kept, never larger. It works on any JPEG, which
// may come from a stranger, with Go's own decoder, and refuses what is too large before it is
// decoded. It takes some 10 ms a megapixel of one processor, and waits for its turn.
func changeImage(in []byte, w imageWish, shapes []shape) ([]byte, error) {
	head, err := stdjpeg.DecodeConfig(bytes.NewReader(in))
	if err != nil {
		return nil, fmt.Errorf("read the picture: %w", err)
	}
	if int64(head.Width)*int64(head.Height) > maxChanged {
		return nil, fmt.Errorf("%w: %dx%d", errTooLarge, head.Width, head.Height)
	}
	changing <- struct{}{}
	defer func() { <-changing }()
	from, err := stdjpeg.Decode(bytes.NewReader(in))
	if err != nil {
		return nil, fmt.Errorf("read the picture: %w", err)
	}
	area := w.Crop.within(from.Bounds())
	size := fit(area.Size(), w.Width, w.Height)
	to := image.NewRGBA(image.Rectangle{Max: size})
	if size == area.Size() {
		draw.Copy(to, image.Point{}, from, area, draw.Src, nil)
	} else {
		draw.ApproxBiLinear.Scale(to, to.Bounds(), from, area, draw.Src, nil)
	}
	for _, s := range shapes {
		s.draw(to, from.Bounds(), area)
	}
	var out bytes.Buffer
	if err := stdjpeg.Encode(&out, to, &stdjpeg.Options{Quality: changedQuality}); err != nil {
		return nil, fmt.Errorf("write the picture: %w", err)
	}
	return out.Bytes(), nil
}

// within is the box in pixels, at least one by one.
func (b box) within(bounds image.Rectangle) image.Rectangle {
	if (b == box{}) {
		return bounds
	}
	size := bounds.Size()
	at := func(fraction float64, length int) int { return int(math.Round(fraction * float64(length))) }
	r := image.Rect(at(b.Left, size.X), at(b.Top, size.Y), at(b.Right, size.X), at(b.Bottom, size.Y))
	r.Min.X, r.Min.Y = min(r.Min.X, size.X-1), min(r.Min.Y, size.Y-1)
	r.Max.X, r.Max.Y = max(r.Max.X, r.Min.X+1), max(r.Max.Y, r.Min.Y+1)
	return r.Add(bounds.Min).Intersect(bounds)
}

// fit is the size within bounds that keeps the proportions.
func fit(size image.Point, width, height int) image.Point {
	scale := 1.0
	if width > 0 {
		scale = min(scale, float64(width)/float64(size.X))
	}
	if height > 0 {
		scale = min(scale, float64(height)/float64(size.Y))
	}
	return image.Pt(max(1, int(math.Round(float64(size.X)*scale))), max(1, int(math.Round(float64(size.Y)*scale))))
}

// draw draws the shape, whose fractions are of whole, into a picture of which area is shown.
func (s shape) draw(to *image.RGBA, whole, area image.Rectangle) {
	size := to.Bounds().Size()
	at := func(p [2]float64) (x, y float64) {
		x = (p[0]*float64(whole.Dx()) - float64(area.Min.X-whole.Min.X)) / float64(area.Dx()) * float64(size.X)
		y = (p[1]*float64(whole.Dy()) - float64(area.Min.Y-whole.Min.Y)) / float64(area.Dy()) * float64(size.Y)
		return x, y
	}
	for i, p := range s.Points {
		x0, y0 := at(p)
		x1, y1 := at(s.Points[(i+1)%len(s.Points)])
		line(to, x0, y0, x1, y1, s.Color, min(max(s.Width, 1), 16))
	}
}

// line draws one, as squares of the pen's width along it.
func line(to *image.RGBA, x0, y0, x1, y1 float64, c color.RGBA, width int) {
	steps := min(int(max(math.Abs(x1-x0), math.Abs(y1-y0)))+1, 1<<16)
	ink := image.NewUniform(c)
	for i := range steps + 1 {
		f := float64(i) / float64(steps)
		x, y := int(x0+(x1-x0)*f)-width/2, int(y0+(y1-y0)*f)-width/2
		draw.Draw(to, image.Rect(x, y, x+width, y+width), ink, image.Point{}, draw.Src)
	}
}
