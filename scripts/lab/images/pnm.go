package images

import (
	"bytes"
	"errors"
	"fmt"

	"vmsbridge/agent/codec/planar"
)

// isPNM tells of the bytes of a file whether they are a binary graymap or pixmap.
func isPNM(data []byte) bool {
	return len(data) > 2 && data[0] == 'P' && (data[1] == '5' || data[1] == '6') &&
		bytes.IndexByte([]byte(" \t\r\n\v\f#"), data[2]) >= 0
}

// decodePNM reads the first image of a binary graymap or pixmap
// (https://netpbm.sourceforge.net/doc/pgm.html and ppm.html): "P5" or "P6", width, height, the
// value of white, one white space, and the samples row after row, of two bytes where white is above
// 255, the higher first. Comments go from "#" to the end of a line.
func decodePNM(data []byte) (planar.Image, error) {
	channels := 1
	if data[1] == '6' {
		channels = 3
	}
	rest := data[2:]
	var numbers [3]int // width, height, white
	for i := range numbers {
		var err error
		if numbers[i], rest, err = pnmNumber(rest); err != nil {
			return planar.Image{}, fmt.Errorf("decode PNM: %w", err)
		}
	}
	w, h, white := numbers[0], numbers[1], numbers[2]
	switch {
	case w == 0 || h == 0 || w > planar.MaxPixels/h:
		return planar.Image{}, fmt.Errorf("decode PNM: %dx%d; at most %d megapixels are read", w, h,
			planar.MaxPixels/1_000_000)
	case white == 0 || white > 65535:
		return planar.Image{}, fmt.Errorf("decode PNM: white is %d, not 1 to 65535", white)
	case len(rest) == 0:
		return planar.Image{}, errors.New("decode PNM: there are no pixels")
	}
	rest = rest[1:]
	size := 1
	if white > 255 {
		size = 2
	}
	if len(rest) < w*h*channels*size {
		return planar.Image{}, fmt.Errorf("decode PNM: it ends early: %d bytes of %d are there", len(rest),
			w*h*channels*size)
	}
	out := planar.Image{Width: w, Height: h, FullRange: true, Y: planar.NewPlane(w, h)}
	sample := func(i int) uint32 { // 0 to 65535
		v := uint32(rest[i*size])
		if size == 2 {
			v = v<<8 | uint32(rest[i*size+1])
		}
		return min(v, uint32(white)) * 65535 / uint32(white)
	}
	for i := range w * h {
		v := sample(channels * i)
		if channels == 3 { // the weights of color.GrayModel
			v = (19595*v + 38470*sample(3*i+1) + 7471*sample(3*i+2) + 1<<15) >> 16
		}
		out.Y.Pix[i] = byte(v >> 8)
	}
	return out, nil
}

// pnmNumber reads a number of the header, and returns what comes after it.
func pnmNumber(b []byte) (int, []byte, error) {
	for len(b) > 0 {
		switch b[0] {
		case ' ', '\t', '\r', '\n', '\v', '\f':
			b = b[1:]
			continue
		case '#':
			_, b, _ = bytes.Cut(b, []byte{'\n'})
			continue
		}
		break
	}
	n, v := 0, 0
	for n < len(b) && b[n] >= '0' && b[n] <= '9' {
		if v = 10*v + int(b[n]-'0'); v > 1<<24 {
			return 0, nil, errors.New("a number of its header is too large")
		}
		n++
	}
	if n == 0 {
		return 0, nil, errors.New("its header is not three numbers")
	}
	return v, b[n:], nil
}
