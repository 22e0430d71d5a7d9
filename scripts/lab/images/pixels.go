package images

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	_ "image/jpeg" // what libjpeg is not asked for: progressive, CMYK
	_ "image/png"

	_ "golang.org/x/image/bmp"
	_ "golang.org/x/image/tiff"
	_ "golang.org/x/image/webp"

	"vmsbridge/agent/codec/jpeg"
	"vmsbridge/agent/codec/planar"
)

// decodePixels makes full-range luma of an image file's bytes, whatever its name says it is.
func decodePixels(library *jpeg.Codec, data []byte) (planar.Image, error) {
	if bytes.HasPrefix(data, []byte{0xff, 0xd8}) {
		if m, err := library.Decode(data); err == nil {
			return m, nil
		}
	}
	if isPNM(data) {
		return decodePNM(data)
	}
	c, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return planar.Image{}, fmt.Errorf("decode: %w", err)
	}
	if c.Width <= 0 || c.Height <= 0 || c.Width > planar.MaxPixels/c.Height {
		return planar.Image{}, fmt.Errorf("decode: %dx%d; at most %d megapixels are read", c.Width, c.Height,
			planar.MaxPixels/1_000_000)
	}
	m, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return planar.Image{}, fmt.Errorf("decode: %w", err)
	}
	return lumaOf(m), nil
}

// lumaOf is the brightness of an image, by the weights of ITU-R BT.601 that JPEG uses too. What is
// transparent counts as it is.
func lumaOf(m image.Image) planar.Image {
	r := m.Bounds()
	w, h := r.Dx(), r.Dy()
	out := planar.Image{Width: w, Height: h, FullRange: true, Y: planar.NewPlane(w, h)}
	for y := range h {
		row := out.Y.Pix[y*w:][:w]
		switch m := m.(type) {
		case *image.Gray:
			copy(row, m.Pix[y*m.Stride:])
		case *image.YCbCr:
			copy(row, m.Y[y*m.YStride:])
		case *image.RGBA:
			weigh(row, m.Pix[y*m.Stride:])
		case *image.NRGBA:
			weigh(row, m.Pix[y*m.Stride:])
		case *image.Paletted:
			table := make([]byte, 256)
			for i, c := range m.Palette {
				table[i] = color.GrayModel.Convert(c).(color.Gray).Y
			}
			for x, v := range m.Pix[y*m.Stride:][:w] {
				row[x] = table[v]
			}
		default:
			for x := range row {
				row[x] = color.GrayModel.Convert(m.At(r.Min.X+x, r.Min.Y+y)).(color.Gray).Y
			}
		}
	}
	return out
}

// weigh makes luma of pixels of four bytes: the weights are those of color.GrayModel.
func weigh(dst, src []byte) {
	for x := range dst {
		p := src[4*x:][:3]
		dst[x] = byte((19595*uint32(p[0]) + 38470*uint32(p[1]) + 7471*uint32(p[2]) + 1<<15) >> 16)
	}
}
