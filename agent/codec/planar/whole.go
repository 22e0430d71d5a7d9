package planar

import "encoding/binary"

// maxWhole is the largest ratio done here: the sum of a pair of columns over k rows, 2·k·255, must
// fit 16 bits.
const maxWhole = 128

const (
	evenBytes  = 0x00ff00ff00ff00ff
	twoPerLane = 0x0002000200020002
)

// reduceHalf is the box average at ratio 2, eight source samples at a time: 16-bit lanes within a
// 64-bit word hold the sums of neighbouring columns.
func reduceHalf(dst, src Plane) {
	for y := range dst.Height {
		top := src.Pix[2*y*src.Stride:][:src.Width]
		bottom := src.Pix[(2*y+1)*src.Stride:][:src.Width]
		out := dst.Pix[y*dst.Stride:][:dst.Width]
		for len(top) >= 8 && len(bottom) >= 8 && len(out) >= 4 {
			a, b := binary.LittleEndian.Uint64(top), binary.LittleEndian.Uint64(bottom)
			s := a&evenBytes + a>>8&evenBytes + b&evenBytes + b>>8&evenBytes
			s = (s + twoPerLane) >> 2 & evenBytes
			s |= s >> 8
			binary.LittleEndian.PutUint32(out, uint32(s&0xffff|s>>16&0xffff0000))
			top, bottom, out = top[8:], bottom[8:], out[4:]
		}
		for x := range out {
			sum := uint(top[2*x]) + uint(top[2*x+1]) + uint(bottom[2*x]) + uint(bottom[2*x+1])
			out[x] = byte((sum + 2) / 4)
		}
	}
}

// reduceEven is the box average at an even ratio k: first the sums of column pairs over k rows,
// eight source samples at a time, then k/2 of those sums for each sample.
func reduceEven(dst, src Plane, k int) {
	var (
		words = src.Width / 8
		pairs = make([]byte, src.Width+8) // 16 bits a pair of columns
	)
	for y := range dst.Height {
		band := src.Pix[y*k*src.Stride:]
		for i := range words {
			var s uint64
			for r, at := 0, i*8; r < k; r, at = r+1, at+src.Stride {
				v := binary.LittleEndian.Uint64(band[at:])
				s += v&evenBytes + v>>8&evenBytes
			}
			binary.LittleEndian.PutUint64(pairs[i*8:], s)
		}
		for x := words * 8; x < src.Width; x += 2 {
			var s uint
			for r := range k {
				s += uint(band[r*src.Stride+x]) + uint(band[r*src.Stride+x+1])
			}
			binary.LittleEndian.PutUint16(pairs[x:], uint16(s))
		}
		sumLanes(dst.Pix[y*dst.Stride:][:dst.Width], pairs, k/2, uint64(k*k))
	}
}

// reduceOdd is the same at an odd ratio, where pairs do not fit: the sums of single columns over k
// rows, put in order.
func reduceOdd(dst, src Plane, k int) {
	const low = 0xffff
	var (
		words   = src.Width / 8
		columns = make([]byte, 2*src.Width+16) // 16 bits a column
	)
	for y := range dst.Height {
		band := src.Pix[y*k*src.Stride:]
		for i := range words {
			var even, odd uint64 // columns 0 2 4 6 and 1 3 5 7
			for r, at := 0, i*8; r < k; r, at = r+1, at+src.Stride {
				v := binary.LittleEndian.Uint64(band[at:])
				even += v & evenBytes
				odd += v >> 8 & evenBytes
			}
			binary.LittleEndian.PutUint64(columns[i*16:], even&low|odd&low<<16|even>>16&low<<32|odd>>16&low<<48)
			binary.LittleEndian.PutUint64(columns[i*16+8:], even>>32&low|odd>>32&low<<16|even>>48<<32|odd>>48<<48)
		}
		for x := words * 8; x < src.Width; x++ {
			var s uint
			for r := range k {
				s += uint(band[r*src.Stride+x])
			}
			binary.LittleEndian.PutUint16(columns[2*x:], uint16(s))
		}
		sumLanes(dst.Pix[y*dst.Stride:][:dst.Width], columns, k, uint64(k*k))
	}
}

// sumLanes makes each sample of out from the next n sums of 16 bits, divided by area, the number of
// source samples.
func sumLanes(out, lanes []byte, n int, area uint64) {
	// exact: sums are below 2^22 and the factor's error at most area, so that their product stays
	// below 2^40
	factor := uint64(1)<<40/area + 1
	for x := range out {
		var s uint64
		for i := 0; i < 2*n; i += 2 {
			s += uint64(binary.LittleEndian.Uint16(lanes[i:]))
		}
		lanes = lanes[2*n:]
		out[x] = byte((s + area/2) * factor >> 40)
	}
}
