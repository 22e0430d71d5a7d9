// Package picture changes a still on its way out: cuts a box out, makes it smaller, draws boxes on
// it. It works on any JPEG, which may come from a stranger, with Go's own decoder, and refuses what
// is too large before it is decoded.
//
//	small, err := picture.Change(jpeg, picture.Wish{Width: 320})
package picture

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"math"
	"runtime"

	"golang.org/x/image/draw"
)

// maxPixels bounds what is decoded: 8K, at three bytes a pixel.
const maxPixels = 7680 * 4320

// quality is that of the JPEG that comes out.
const quality = 85

// atOnce bounds how many pictures are worked on at a time, and so the memory they take.
var atOnce = make(chan struct{}, max(1, runtime.NumCPU()/2))

// ErrTooLarge says that a picture has too many pixels to be worked on.
var ErrTooLarge = errors.New("the picture is too large")

// Box is a part of a picture in fractions of its sides, from the left and the top.
type Box struct{ Left, Top, Right, Bottom float64 }

// Shape is a line to draw: a closed polygon of points in fractions.
type Shape struct {
	Points [][2]float64
	Color  color.RGBA
	Width  int // in pixels
}

// Rectangle is the shape of a box.
func (b Box) Rectangle(c color.RGBA, width int) Shape {
	return Shape{[][2]float64{{b.Left, b.Top}, {b.Right, b.Top}, {b.Right, b.Bottom}, {b.Left, b.Bottom}}, c, width}
}

// Wish says what to do, in this order: draw, cut, make smaller. The zero value asks for nothing.
type Wish struct {
	Shapes []Shape
	Crop   Box // the zero value keeps all
	// Width and Height are the size to fit into, with the proportions kept. 0 sets no bound. A
	// picture is never made larger.
	Width, Height int
}

// Nothing says whether a wish changes nothing.
func (w Wish) Nothing() bool {
	return len(w.Shapes) == 0 && w.Crop == Box{} && w.Width == 0 && w.Height == 0
}

// Change does what is wished with a JPEG. It takes some 10 ms a megapixel of one processor, and
// waits for its turn.
func Change(in []byte, w Wish) ([]byte, error) {
	if w.Nothing() {
		return in, nil
	}
	head, err := jpeg.DecodeConfig(bytes.NewReader(in))
	if err != nil {
		return nil, fmt.Errorf("read the picture: %w", err)
	}
	if int64(head.Width)*int64(head.Height) > maxPixels {
		return nil, fmt.Errorf("%w: %dx%d", ErrTooLarge, head.Width, head.Height)
	}
	atOnce <- struct{}{}
	defer func() { <-atOnce }()
	from, err := jpeg.Decode(bytes.NewReader(in))
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
	for _, s := range w.Shapes {
		s.draw(to, from.Bounds(), area)
	}
	var out bytes.Buffer
	if err := jpeg.Encode(&out, to, &jpeg.Options{Quality: quality}); err != nil {
		return nil, fmt.Errorf("write the picture: %w", err)
	}
	return out.Bytes(), nil
}

// within is the box in pixels, at least one by one.
func (b Box) within(bounds image.Rectangle) image.Rectangle {
	if (b == Box{}) {
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
func (s Shape) draw(to *image.RGBA, whole, area image.Rectangle) {
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
