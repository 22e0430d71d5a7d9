// Package jpeg decodes and encodes JPEG pictures as planes, by the best implementation that the
// build and the machine have: go-libjpeg in a cgo build, else libturbojpeg found at run time, else
// the standard library (4 times slower to decode, 10 to encode). It serves agent/codec/engine: the
// pictures of MJPEG cameras, and every still that is made here.
//
//	j := jpeg.Open(nil)
//	img, err := j.Decode(data)                              // planar.Image
//	still, err := j.Encode(planar.YCbCr420(img, w, h), 80)
//
// Whatever the implementation, Check looks at a picture first: libjpeg itself decodes almost
// anything "successfully" and would allocate gigabytes for a header that asks for them. libjpeg
// reports damage on the process's standard error only.
package jpeg

import (
	"errors"
	"fmt"
	"image"

	"vmsbridge/agent/codec/planar"
)

// Codec decodes and encodes by one implementation. It is safe for concurrent use.
type Codec struct {
	impl implementation
}

// implementation is what differs: cgo, dlopen, pure Go. decode is given pictures that passed Check;
// encode is given planes padded by planar.YCbCr420.
type implementation interface {
	describe() (name, version, path string)
	decode(data []byte, h Header) (planar.Image, error)
	encode(m *image.YCbCr, quality int) ([]byte, error)
}

// Open chooses the best implementation; dirs are searched for libturbojpeg before the system's
// folders. It cannot fail: the standard library is always there.
func Open(dirs []string) *Codec {
	if impl := libjpeg(); impl != nil {
		return &Codec{impl}
	}
	if impl, err := openTurbo(dirs); err == nil {
		return &Codec{impl}
	}
	return &Codec{standard{}}
}

// Describe names the implementation, its version and the file it comes from, as far as known.
func (c *Codec) Describe() (name, version, path string) { return c.impl.describe() }

// Fast says that the implementation is a C library.
func (c *Codec) Fast() bool {
	_, slow := c.impl.(standard)
	return !slow
}

// Hint says how to get a fast implementation where there is none.
const Hint = "install libturbojpeg (Debian and Ubuntu: apt install libturbojpeg0 or libturbojpeg): JPEG by the " +
	"standard library is 4 to 10 times slower"

// ErrDamaged marks a picture whose coded data is cut off or corrupt.
var ErrDamaged = errors.New("the JPEG is damaged")

// Decode decodes one picture that Check accepts. The planes are new and the caller's.
func (c *Codec) Decode(data []byte) (planar.Image, error) {
	h, err := Check(data)
	if err != nil {
		return planar.Image{}, err
	}
	m, err := c.impl.decode(data, h)
	if err != nil {
		return planar.Image{}, fmt.Errorf("decode JPEG: %w", err)
	}
	if m.Width != h.Width || m.Height != h.Height {
		return planar.Image{}, fmt.Errorf("decode JPEG: it came out as %dx%d, its header says %dx%d", m.Width, m.Height,
			h.Width, h.Height)
	}
	return m, m.Check()
}

// Encode codes a picture that planar.YCbCr420 made; quality is cut to 1 to 100.
func (c *Codec) Encode(m *image.YCbCr, quality int) ([]byte, error) {
	if m.SubsampleRatio != image.YCbCrSubsampleRatio420 || m.Rect.Min != (image.Point{}) {
		return nil, errors.New("encode JPEG: the picture is not 4:2:0 from 0,0")
	}
	if w, h := m.Rect.Dx(), m.Rect.Dy(); w <= 0 || h <= 0 || w > maxSide || h > maxSide {
		return nil, fmt.Errorf("encode JPEG: %dx%d is not within 1 to %d", w, h, maxSide)
	}
	out, err := c.impl.encode(m, min(100, max(1, quality)))
	if err != nil {
		return nil, fmt.Errorf("encode JPEG: %w", err)
	}
	return out, nil
}

// fromDecoded is what image/jpeg, or a library that stands in for it, has decoded.
func fromDecoded(m image.Image) (planar.Image, error) {
	switch m := m.(type) {
	case *image.YCbCr:
		return fromYCbCr(m)
	case *image.Gray:
		return fromGray(m), nil
	}
	return planar.Image{}, fmt.Errorf("its colours are not Y, Cb, Cr (%T)", m)
}

// fromYCbCr is a decoded picture of the image package as planes, without copying. JPEG is full
// range.
func fromYCbCr(m *image.YCbCr) (planar.Image, error) {
	w, h := m.Rect.Dx(), m.Rect.Dy()
	cw, ch := w, h
	switch m.SubsampleRatio {
	case image.YCbCrSubsampleRatio444:
	case image.YCbCrSubsampleRatio440:
		ch = (h + 1) / 2
	case image.YCbCrSubsampleRatio422:
		cw = (w + 1) / 2
	case image.YCbCrSubsampleRatio420:
		cw, ch = (w+1)/2, (h+1)/2
	case image.YCbCrSubsampleRatio411:
		cw = (w + 3) / 4
	default:
		return planar.Image{}, fmt.Errorf("unsupported chroma subsampling %v", m.SubsampleRatio)
	}
	return planar.Image{
		Width: w, Height: h, FullRange: true,
		Y:  planar.Plane{Pix: m.Y, Stride: m.YStride, Width: w, Height: h},
		Cb: planar.Plane{Pix: m.Cb, Stride: m.CStride, Width: cw, Height: ch},
		Cr: planar.Plane{Pix: m.Cr, Stride: m.CStride, Width: cw, Height: ch},
	}, nil
}

func fromGray(m *image.Gray) planar.Image {
	w, h := m.Rect.Dx(), m.Rect.Dy()
	return planar.Image{Width: w, Height: h, FullRange: true,
		Y: planar.Plane{Pix: m.Pix, Stride: m.Stride, Width: w, Height: h}}
}
