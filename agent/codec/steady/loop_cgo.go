//go:build cgo && (amd64 || arm64)

package steady

// #cgo CFLAGS: -O3
// #cgo LDFLAGS: -ljpeg
// #include <stdlib.h>
// #include "loop.h"
import "C"

import (
	"fmt"
	"image"
	"os"
	"runtime"
	"syscall"
	"unsafe"
)

// Loop is for one goroutine.
type Loop struct {
	c      *C.struct_loop
	in     *os.File
	pinned map[uint32]*pinned
}

// pinned is a stream that C looks at between calls.
type pinned struct {
	stream *Stream
	pinner runtime.Pinner
}

// New makes a loop that reads requests and writes replies; nil if there is none in this build, or a
// function is missing. shared is memory that does not move and that both sides have, for pictures;
// nil: they go through the pipe. look has it stop before each access unit that it serves.
func New(in, out *os.File, shared []byte, f Functions, look bool) *Loop {
	if f.FramePTS == 0 {
		return nil // times are kept by Go
	}
	addresses := []uintptr{f.NewPacket, f.UnrefPacket, f.SendPacket, f.ReceiveFrame, f.AllocFrame, f.UnrefFrame,
		f.FreeFrame, f.FramePTS}
	var functions C.struct_functions
	copy(unsafe.Slice((*uintptr)(unsafe.Pointer(&functions)), len(addresses)), addresses)
	c := C.loop_new(C.int(in.Fd()), C.int(out.Fd()), functions)
	if c == nil {
		return nil
	}
	if look {
		c.look = 1
	}
	if len(shared) > 0 {
		c.shared, c.shared_bytes = (*C.uint8_t)(&shared[0]), C.size_t(len(shared))
	}
	return &Loop{c: c, in: in, pinned: map[uint32]*pinned{}}
}

// Add has the loop serve a stream, as long as it is Ready.
func (l *Loop) Add(number uint32, s *Stream) {
	p := &pinned{stream: s}
	p.pinner.Pin(s)
	if C.loop_add(l.c, C.uint32_t(number), (*C.struct_stream)(unsafe.Pointer(s))) == 0 {
		p.pinner.Unpin()
		return
	}
	l.pinned[number] = p
}

// Remove has it forget a stream, before what the stream points to is freed.
func (l *Loop) Remove(number uint32) {
	if p := l.pinned[number]; p != nil {
		C.loop_remove(l.c, C.uint32_t(number))
		p.pinner.Unpin()
		delete(l.pinned, number)
	}
}

// Next serves requests until there is something for the caller.
func (l *Loop) Next() Why { return Why(C.loop_next(l.c)) }

// Read reads what Next has left.
func (l *Loop) Read(b []byte) (int, error) {
	if len(b) > 0 {
		if n := C.loop_take(l.c, unsafe.Pointer(&b[0]), C.size_t(len(b))); n > 0 {
			return int(n), nil
		}
	}
	return l.in.Read(b)
}

// Unit is the access unit that is about to be fed, until the next call.
func (l *Loop) Unit() []byte {
	return unsafe.Slice((*byte)(l.c.unit), int(l.c.unit_bytes))
}

// Fed is what came of an access unit: libavcodec's answers to it and to being asked for pictures,
// and these, which are the caller's. Those before lumaFrom are to come without luma.
func (l *Loop) Fed() (number uint32, lumaFrom int64, sent, received int32, frames []unsafe.Pointer) {
	frames = append(frames, l.c.frame[:l.c.frames]...)
	return uint32(l.c.number), int64(l.c.luma_from), int32(l.c.sent), int32(l.c.received), frames
}

// Served is how many access units were served without Go.
func (l *Loop) Served() int { return int(l.c.served) }

// Stills is how many stills were made without Go.
func (l *Loop) Stills() int { return int(l.c.stills) }

// Err is why a reply could not be written.
func (l *Loop) Err() error { return fmt.Errorf("write reply: %w", syscall.Errno(l.c.error)) }

// Close frees the loop; the streams are their owners'.
func (l *Loop) Close() {
	for number := range l.pinned {
		l.Remove(number)
	}
	C.loop_free(l.c)
}

// NewBudget is what a stream's budget calls, and the function that libavcodec is to ask for the
// memory of pictures. It is not freed: there is one for a library.
func NewBudget(f BudgetFunctions) (calls unsafe.Pointer, getBuffer uintptr) {
	addresses := []uintptr{f.GetBuffer, f.PlaneBuffer, f.Ref, f.Unref, f.References}
	calls = C.calloc(1, C.sizeof_struct_budget_functions)
	copy(unsafe.Slice((*uintptr)(calls), len(addresses)), addresses)
	return calls, uintptr(C.budget_function())
}

// Expand is planar.Expand.
func Expand(m *image.YCbCr) {
	for i, p := range [][]byte{m.Y, m.Cb, m.Cr} {
		if len(p) > 0 {
			C.loop_expand((*C.uint8_t)(&p[0]), C.size_t(len(p)), C.int(i))
		}
	}
}

// reduce is for tests.
func reduce(to []byte, w, h int, from []byte, stride, width, height int, full bool) bool {
	f := C.int(0)
	if full {
		f = 1
	}
	return C.loop_reduce((*C.uint8_t)(&to[0]), C.int(w), C.int(h), (*C.uint8_t)(&from[0]), C.int(stride), C.int(width),
		C.int(height), f) != 0
}

// The two layouts are one.
var _ = [1]struct{}{}[unsafe.Sizeof(Stream{})-unsafe.Sizeof(C.struct_stream{})]
var _ = [1]struct{}{}[unsafe.Sizeof(Picture{})-unsafe.Sizeof(C.struct_picture{})]
var _ = [1]struct{}{}[unsafe.Offsetof(Stream{}.Set)-C.offsetof_set]
var _ = [1]struct{}{}[unsafe.Offsetof(Stream{}.Budget.Held)-C.offsetof_held]
