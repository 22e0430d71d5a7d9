package planar

import "math/bits"

// reduceReference is the definition of the box average, plain and slow: a sample of dst is the
// average of the area of src that it covers, partly covered samples counted by their share, rounded
// to the nearest, halves up. In units of 1/dst.Width of a source sample, source sample i covers
// [i·w, (i+1)·w) and destination sample x covers [x·W, (x+1)·W), so every weight is a whole number
// and the result is exact. It also enlarges, which 4:1:1 chroma needs.
func reduceReference(dst, src Plane) {
	area := uint64(src.Width) * uint64(src.Height)
	for y := range dst.Height {
		for x := range dst.Width {
			var sum uint64
			for j := y * src.Height / dst.Height; j < src.Height && j*dst.Height < (y+1)*src.Height; j++ {
				wy := overlap(j, dst.Height, y, src.Height)
				for i := x * src.Width / dst.Width; i < src.Width && i*dst.Width < (x+1)*src.Width; i++ {
					wx := overlap(i, dst.Width, x, src.Width)
					sum += uint64(wx) * uint64(wy) * uint64(src.Pix[j*src.Stride+i])
				}
			}
			dst.Pix[y*dst.Stride+x] = byte((sum + area/2) / area)
		}
	}
}

// overlap is the length that [i·w, (i+1)·w) and [x·W, (x+1)·W) share.
func overlap(i, w, x, W int) int {
	return min((i+1)*w, (x+1)*W) - max(i*w, x*W)
}

// reduce is reduceReference, fast; both planes are plain and do not overlap.
func reduce(dst, src Plane) {
	k := 0
	if src.Width%dst.Width == 0 && src.Height%dst.Height == 0 && src.Width/dst.Width == src.Height/dst.Height {
		k = src.Width / dst.Width
	}
	switch {
	case k == 1:
		for y := range dst.Height {
			copy(dst.Pix[y*dst.Stride:][:dst.Width], src.Pix[y*src.Stride:][:dst.Width])
		}
	case k == 2:
		reduceHalf(dst, src)
	case k > 2 && k%2 == 0 && k <= maxWhole:
		reduceEven(dst, src, k)
	case k > 2 && k <= maxWhole:
		reduceOdd(dst, src, k)
	default:
		reduceAny(dst, src)
	}
}

// reduceAny does the rows and then the columns, for any ratio.
func reduceAny(dst, src Plane) {
	var (
		spans = coverage(dst.Width, src.Width)
		row   = make([]uint64, dst.Width)
		acc   = make([]uint64, dst.Width)
		div   = newDivider(uint64(src.Width) * uint64(src.Height))
		have  = -1 // the source row that row holds
	)
	for y := range dst.Height {
		clear(acc)
		for j := y * src.Height / dst.Height; j < src.Height && j*dst.Height < (y+1)*src.Height; j++ {
			if j != have {
				sumRow(row, src.Pix[j*src.Stride:][:src.Width], spans, uint64(dst.Width))
				have = j
			}
			wy := uint64(overlap(j, dst.Height, y, src.Height))
			for x, v := range row {
				acc[x] += wy * v
			}
		}
		out := dst.Pix[y*dst.Stride:][:dst.Width]
		for x, v := range acc {
			out[x] = div.round(v)
		}
	}
}

// covered is what one destination column takes of a source row: src[first]·head, whole samples,
// src[last]·tail.
type covered struct {
	first, last int
	head, tail  uint64 // tail is 0 when first is last
}

func coverage(w, W int) []covered {
	out := make([]covered, w)
	for x := range out {
		first := x * W / w
		last := ((x+1)*W - 1) / w
		c := covered{first: first, last: last, head: uint64(overlap(first, w, x, W))}
		if last != first {
			c.tail = uint64(overlap(last, w, x, W))
		}
		out[x] = c
	}
	return out
}

func sumRow(row []uint64, pix []byte, spans []covered, w uint64) {
	for x, c := range spans {
		var whole uint64
		if c.last > c.first+1 {
			for _, v := range pix[c.first+1 : c.last] {
				whole += uint64(v)
			}
		}
		row[x] = c.head*uint64(pix[c.first]) + w*whole + c.tail*uint64(pix[c.last])
	}
}

// divider divides by a constant by multiplying: exact for sums of up to 2^26 samples of 8 bits.
type divider struct{ half, factor, d uint64 }

func newDivider(d uint64) divider {
	if d == 1 {
		return divider{d: 1}
	}
	// factor = floor(2^64/d)+1; its error e = factor·d-2^64 is at most d, and the quotient is exact
	// while x·e < 2^64. x < 2^34 and d < 2^26 (MaxPixels) keep that.
	q, _ := bits.Div64(1, 0, d)
	return divider{half: d / 2, factor: q + 1, d: d}
}

func (v divider) round(sum uint64) byte {
	if v.d == 1 {
		return byte(sum)
	}
	q, _ := bits.Mul64(sum+v.half, v.factor)
	return byte(q)
}
