package avcodec

import (
	"fmt"
	"strconv"
	"syscall"
	"unsafe"

	"github.com/ebitengine/purego"

	"vmsbridge/agent/codec/steady"
)

// The head of AVCodecContext, the same in majors 58 to 62: four pointers and four int before
// opaque. findBudget looks whether it is so.
const (
	contextOpaque  = 4*pointer + 16
	contextBitRate = (contextOpaque + pointer + 7) &^ 7
)

// contextBytes is how far into AVCodecContext get_buffer2 is looked for. It lies at about 400, and
// the structure is longer than this in all majors.
const contextBytes = 800

// findBudget finds out how libavcodec's requests for memory are answered: where AVCodecContext has
// the function that does, which is avcodec_default_get_buffer2 in a new one.
func (l *Library) findBudget() error {
	codec := l.calls.findDecoder(string(H264))
	if codec == nil {
		codec = l.calls.findDecoder(string(H265))
	}
	if codec == nil {
		return nil // it decodes nothing
	}
	ctx := l.calls.allocContext(codec)
	if ctx == nil {
		return fmt.Errorf("bound memory: %w", syscall.ENOMEM)
	}
	defer l.calls.freeContext(&ctx)
	const rate = 7_654_321
	l.calls.optSet(ctx, "b", strconv.Itoa(rate), 0)
	if *(*int64)(unsafe.Add(ctx, contextBitRate)) != rate || *(*uintptr)(unsafe.Add(ctx, contextOpaque)) != 0 {
		return fmt.Errorf("bound memory: this library's structures are laid out differently")
	}
	for at := uintptr(0); at < contextBytes; at += unsafe.Sizeof(at) {
		if *(*uintptr)(unsafe.Add(ctx, at)) == l.symbols["avcodec_default_get_buffer2"] {
			l.getBufferAt = at
		}
	}
	if l.getBufferAt == 0 {
		return fmt.Errorf("bound memory: this library keeps its function for it elsewhere")
	}
	l.budgetCalls, l.getBuffer = steady.NewBudget(steady.BudgetFunctions{
		GetBuffer: l.symbols["avcodec_default_get_buffer2"], PlaneBuffer: l.symbols["av_frame_get_plane_buffer"],
		Ref: l.symbols["av_buffer_ref"], Unref: l.symbols["av_buffer_unref"],
		References: l.symbols["av_buffer_get_ref_count"],
	})
	if l.getBuffer == 0 {
		l.getBuffer = purego.NewCallback(l.allocate)
	}
	return nil
}

// bound has libavcodec ask the decoder's budget for the memory of pictures. The decoder keeps the
// budget where it is for as long as it has its context.
func (d *Decoder) bound() {
	d.shared.Budget.Calls = d.lib.budgetCalls
	*(*unsafe.Pointer)(unsafe.Add(d.ctx, contextOpaque)) = unsafe.Pointer(d.shared)
	*(*uintptr)(unsafe.Add(d.ctx, d.lib.getBufferAt)) = d.lib.getBuffer
}

// allocate is get_buffer of steady/budget.c, for builds without C.
func (l *Library) allocate(ctx, frame unsafe.Pointer, flags int32) int32 {
	b := &(*steady.Stream)(*(*unsafe.Pointer)(unsafe.Add(ctx, contextOpaque))).Budget
	if b.Most == 0 {
		return l.calls.getBuffer(ctx, frame, flags)
	}
	l.release(b, 1)
	f := Frame{ptr: frame}
	w, h := f.Size()
	bytes := int64(w) * int64(h) / 8 * int64(b.Eighths)
	if b.Holds == steady.MaxHeld || b.Bytes+bytes > b.Most {
		b.Denied, b.DeniedWidth, b.DeniedHeight = b.Holds+1, int32(w), int32(h)
		return -int32(syscall.ENOMEM)
	}
	if code := l.calls.getBuffer(ctx, frame, flags); code < 0 {
		return code
	}
	buffer := l.calls.planeBuffer(frame, 0)
	if buffer != nil {
		buffer = l.calls.ref(buffer)
	}
	if buffer == nil {
		return -int32(syscall.ENOMEM)
	}
	b.Held[b.Holds] = steady.Held{Buffer: buffer, Bytes: bytes}
	b.Holds++
	b.Bytes += bytes
	return 0
}

// Release gives up the memory of pictures that nobody has any more, which is otherwise done when
// the next one is decoded.
func (d *Decoder) Release() { d.lib.release(&d.shared.Budget, 1) }

// release gives up the pictures with so many references at most, the budget's own among them.
func (l *Library) release(b *steady.Budget, references int32) {
	holds := int32(0)
	for i := range b.Holds {
		held := &b.Held[i]
		if l.calls.references(held.Buffer) > references {
			b.Held[holds] = *held
			holds++
			continue
		}
		b.Bytes -= held.Bytes
		l.calls.unref(&held.Buffer)
	}
	b.Holds = holds
}
