package planar

import "image"

// block is the size of a 4:2:0 JPEG's coding unit in luma samples.
const block = 16

// YCbCr420 is the picture at w×h (not larger than it is) as encoders take it: 4:2:0, full range.
// Its planes are padded to whole coding units plus one more to the right and below, and the last
// column and row are repeated into the padding, because libjpeg reads past the picture's edge.
// Chroma siting is ignored; a picture without colour gets neutral chroma.
func YCbCr420(m Image, w, h int) *image.YCbCr { return YCbCr420In(new([]byte), m, w, h) }

// YCbCr420In is YCbCr420 in *room, whatever is in there; where that is too small, in new memory,
// which *room is then.
func YCbCr420In(room *[]byte, m Image, w, h int) *image.YCbCr {
	out := alignedYCbCr(room, w, h)
	cw, ch := (w+1)/2, (h+1)/2
	y := Plane{Pix: out.Y, Stride: out.YStride, Width: w, Height: h}
	reduce(y, m.Y.narrow())
	finish(y)
	for _, c := range []struct {
		dst []byte
		src Plane
	}{{out.Cb, m.Cb}, {out.Cr, m.Cr}} {
		if m.Gray() {
			for i := range c.dst {
				c.dst[i] = 128
			}
			continue
		}
		p := Plane{Pix: c.dst, Stride: out.CStride, Width: cw, Height: ch}
		reduce(p, c.src.narrow())
		finish(p)
	}
	if !m.FullRange {
		Expand(out)
	}
	return out
}

// alignedYCbCr has at least the geometry of go-libjpeg's NewYCbCrAligned, without needing cgo.
func alignedYCbCr(room *[]byte, w, h int) *image.YCbCr {
	pad := func(n int) int { return (n+block-1)/block*block + block }
	ys, yh := pad(w), pad(h)
	cs, ch := pad((w+1)/2), pad((h+1)/2)
	if n := ys*yh + 2*cs*ch; cap(*room) < n {
		*room = make([]byte, n)
	}
	b := (*room)[:ys*yh+2*cs*ch]
	return &image.YCbCr{
		Y:              b[: ys*yh : ys*yh],
		Cb:             b[ys*yh : ys*yh+cs*ch : ys*yh+cs*ch],
		Cr:             b[ys*yh+cs*ch:],
		YStride:        ys,
		CStride:        cs,
		SubsampleRatio: image.YCbCrSubsampleRatio420,
		Rect:           image.Rect(0, 0, w, h),
	}
}

// finish repeats the edges of the plane's picture into its padding.
func finish(p Plane) {
	for y := range p.Height {
		row := p.Pix[y*p.Stride:][:p.Stride]
		edge := row[p.Width-1]
		for x := p.Width; x < len(row); x++ {
			row[x] = edge
		}
	}
	last := p.Pix[(p.Height-1)*p.Stride:][:p.Stride]
	for at := p.Height * p.Stride; at < len(p.Pix); at += p.Stride {
		copy(p.Pix[at:], last)
	}
}
