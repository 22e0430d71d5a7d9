// Package planar holds pictures as their three planes and does the few pixel loops of the project:
// the reduced luma that the detector looks at, and the full-range 4:2:0 picture that the JPEG
// encoders take. Nothing ever goes through RGB.
//
// It stands behind the decoders (avcodec, jpeg), whose memory its planes may point into, and before
// motion and the stills:
//
//	w, h := planar.Fit(img.Width, img.Height, 57_600)
//	luma := planar.Luma(img, w, h)            // for motion.Picture
//	ycc := planar.YCbCr420(img, 640, 360)     // for an encoder
//
// It is pure Go, knows no clock, file or goroutine; all functions are safe for concurrent use on
// different pictures.
package planar

import (
	"errors"
	"fmt"
)

// MaxPixels is the largest picture that the project decodes: 40 megapixels.
const MaxPixels = 40_000_000

// Plane is one component of a picture: Height rows of Width samples.
type Plane struct {
	Pix    []byte
	Stride int // bytes from one row to the next
	Width  int
	Height int
	Step   int // bytes from one sample to the next; 0 means 1 (or 2 when Bits > 8)
	Bits   int // bits a sample; 0 means 8; 9 to 16 are little endian in two bytes and read as their upper eight bits
}

// Image is a picture. A picture without colour has empty Cb and Cr. Planes may point into memory of
// C: an Image is valid only as long as the decoder that made it says.
type Image struct {
	Width, Height int
	Y, Cb, Cr     Plane
	// FullRange says that black is 0 and white 255 (JPEG). Otherwise they are 16 and 235 (16 to 240
	// in colour).
	FullRange bool
}

// Gray says that the picture has no colour.
func (m Image) Gray() bool { return m.Cb.Pix == nil || m.Cr.Pix == nil }

// Check says whether every sample that the planes promise lies within their bytes, so that the
// pixel loops cannot read elsewhere.
func (m Image) Check() error {
	switch {
	case m.Width <= 0 || m.Height <= 0:
		return fmt.Errorf("check picture: its size is %dx%d", m.Width, m.Height)
	case m.Width > MaxPixels/m.Height:
		return fmt.Errorf("check picture: %dx%d is more than %d megapixels", m.Width, m.Height, MaxPixels/1_000_000)
	case m.Y.Width != m.Width || m.Y.Height != m.Height:
		return errors.New("check picture: the luma plane has another size")
	}
	if err := m.Y.check(); err != nil {
		return fmt.Errorf("check luma: %w", err)
	}
	if m.Gray() {
		return nil
	}
	for _, p := range []Plane{m.Cb, m.Cr} {
		if err := p.check(); err != nil {
			return fmt.Errorf("check chroma: %w", err)
		}
	}
	return nil
}

func (p Plane) check() error {
	if p.Width <= 0 || p.Height <= 0 {
		return fmt.Errorf("plane is %dx%d", p.Width, p.Height)
	}
	if row := (p.Width-1)*p.step() + p.sampleBytes(); p.Stride < row || len(p.Pix) < (p.Height-1)*p.Stride+row {
		return fmt.Errorf("plane %dx%d with stride %d does not fit its %d bytes", p.Width, p.Height, p.Stride,
			len(p.Pix))
	}
	return nil
}

func (p Plane) sampleBytes() int {
	if p.Bits > 8 {
		return 2
	}
	return 1
}

func (p Plane) step() int {
	if p.Step == 0 {
		return p.sampleBytes()
	}
	return p.Step
}

// plain says that samples are single bytes, one after the other.
func (p Plane) plain() bool { return p.step() == 1 }

// narrow is p itself if it is plain, else a plain copy: every Step-th sample, cut to its upper
// eight bits.
func (p Plane) narrow() Plane {
	if p.plain() {
		return p
	}
	out := NewPlane(p.Width, p.Height)
	step := p.step()
	for y := range p.Height {
		row, dst := p.Pix[y*p.Stride:], out.Pix[y*out.Stride:][:p.Width]
		if p.Bits <= 8 {
			for x := range dst {
				dst[x] = row[x*step]
			}
			continue
		}
		shift := p.Bits - 8
		for x := range dst {
			dst[x] = byte((uint(row[x*step]) | uint(row[x*step+1])<<8) >> shift)
		}
	}
	return out
}

// NewPlane is an empty plain plane without padding.
func NewPlane(w, h int) Plane {
	return Plane{Pix: make([]byte, w*h), Stride: w, Width: w, Height: h}
}

// Luma is the picture's brightness reduced to w×h by box average, full range, w bytes a row. The
// slice is new.
func Luma(m Image, w, h int) []byte {
	out := NewPlane(w, h)
	reduce(out, m.Y.narrow())
	if !m.FullRange {
		expand(out.Pix, &expandLuma)
	}
	return out.Pix
}
