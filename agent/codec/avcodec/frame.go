package avcodec

import (
	"fmt"
	"unsafe"

	"vmsbridge/agent/codec/planar"
)

// Frame is a decoded picture in libavcodec's memory. Not safe for concurrent use.
type Frame struct {
	PTS int64 // as fed with the picture's access unit

	lib       *Library
	ptr       unsafe.Pointer
	fullRange bool
}

// pointer is how many bytes a pointer of the machine has: 8, or 4 where numbers of 64 bits lie at
// multiples of 8 too, as for ARM.
const pointer = int(unsafe.Sizeof(uintptr(0)))

// The head of AVFrame, the same in majors 58 to 62: eight pointers, eight int, a pointer, and the
// fields. framePTS is only used when the test finds the times of its clip there.
const (
	frameData     = 0
	frameLinesize = 8 * pointer
	frameWidth    = 9*pointer + 32
	frameHeight   = frameWidth + 4
	frameFormat   = frameWidth + 12
	framePTS      = (frameWidth + 32 + 7) &^ 7
)

// Close gives the picture's memory back. Its images must not be used any more.
func (f *Frame) Close() {
	if f.ptr != nil {
		f.lib.calls.freeFrame(&f.ptr)
		f.ptr = nil
	}
}

// Size is the picture's width and height in pixels.
func (f *Frame) Size() (int, int) { return int(f.int32(frameWidth)), int(f.int32(frameHeight)) }

// Image describes the picture's planes where they are: valid until Close. ErrFormat: the pixel
// format is not supported.
func (f *Frame) Image() (planar.Image, error) {
	w, h := f.Size()
	number := f.int32(frameFormat)
	name := f.lib.calls.pixFmtName(number)
	layout, ok := layouts[name]
	if !ok {
		return planar.Image{}, fmt.Errorf("%w %q (number %d)", ErrFormat, name, number)
	}
	if w <= 0 || h <= 0 || w > planar.MaxPixels/h {
		return planar.Image{}, fmt.Errorf("read picture: its size is %dx%d", w, h)
	}
	m := planar.Image{Width: w, Height: h, FullRange: f.fullRange || layout.full}
	var err error
	if m.Y, err = f.plane(0, 0, layout, w, h, 1); err != nil {
		return planar.Image{}, err
	}
	if layout.dx != 0 {
		cw, ch := (w+layout.dx-1)/layout.dx, (h+layout.dy-1)/layout.dy
		u, v, offset, step := 1, 2, 0, 1
		if layout.pairs {
			v, offset, step = 1, 1, 2
		}
		if m.Cb, err = f.plane(u, 0, layout, cw, ch, step); err != nil {
			return planar.Image{}, err
		}
		if m.Cr, err = f.plane(v, offset, layout, cw, ch, step); err != nil {
			return planar.Image{}, err
		}
		if layout.swapped {
			m.Cb, m.Cr = m.Cr, m.Cb
		}
	}
	return m, m.Check()
}

// plane describes data[index], from the offset-th sample on, with a sample of interest every step
// samples.
func (f *Frame) plane(index, offset int, l layout, w, h, step int) (planar.Plane, error) {
	size := 1
	if l.bits > 8 {
		size = 2
	}
	data := *(*unsafe.Pointer)(unsafe.Add(f.ptr, frameData+pointer*index))
	stride := int(f.int32(frameLinesize + 4*index))
	row := ((w-1)*step + 1) * size
	if data == nil || stride < row+offset*size {
		return planar.Plane{}, fmt.Errorf("read picture: plane %d has a stride of %d bytes for a row of %d", index,
			stride, row)
	}
	pix := unsafe.Slice((*byte)(unsafe.Add(data, offset*size)), (h-1)*stride+row)
	return planar.Plane{Pix: pix, Stride: stride, Width: w, Height: h, Step: step * size, Bits: l.bits}, nil
}

func (f *Frame) int32(at int) int32 { return *(*int32)(unsafe.Add(f.ptr, at)) }

// layout is how a pixel format lies in memory: chroma is a dx-th as wide and a dy-th as high (0: no
// chroma).
type layout struct {
	dx, dy  int
	bits    int  // a sample; more than 8: two bytes, little endian
	full    bool // the format itself means full range
	pairs   bool // Cb and Cr alternate in the second plane
	swapped bool // Cr comes first
}

// layouts are the pixel formats that software and hardware decoders give. They are found by name,
// because the numbers differ between versions.
var layouts = map[string]layout{
	"gray":        {bits: 8},
	"yuv420p":     {dx: 2, dy: 2, bits: 8},
	"yuvj420p":    {dx: 2, dy: 2, bits: 8, full: true},
	"yuv422p":     {dx: 2, dy: 1, bits: 8},
	"yuvj422p":    {dx: 2, dy: 1, bits: 8, full: true},
	"yuv440p":     {dx: 1, dy: 2, bits: 8},
	"yuvj440p":    {dx: 1, dy: 2, bits: 8, full: true},
	"yuv444p":     {dx: 1, dy: 1, bits: 8},
	"yuvj444p":    {dx: 1, dy: 1, bits: 8, full: true},
	"nv12":        {dx: 2, dy: 2, bits: 8, pairs: true},
	"nv21":        {dx: 2, dy: 2, bits: 8, pairs: true, swapped: true},
	"nv16":        {dx: 2, dy: 1, bits: 8, pairs: true},
	"gray10le":    {bits: 10},
	"yuv420p10le": {dx: 2, dy: 2, bits: 10},
	"yuv422p10le": {dx: 2, dy: 1, bits: 10},
	"yuv444p10le": {dx: 1, dy: 1, bits: 10},
	"gray12le":    {bits: 12},
	"yuv420p12le": {dx: 2, dy: 2, bits: 12},
	"yuv422p12le": {dx: 2, dy: 1, bits: 12},
	"yuv444p12le": {dx: 1, dy: 1, bits: 12},
	"p010le":      {dx: 2, dy: 2, bits: 16, pairs: true},
}
