package avcodec

import (
	"math"
	"unsafe"

	"vmsbridge/agent/codec/planar"
	"vmsbridge/agent/codec/steady"
)

var steadyCodec = map[Codec]int32{H264: steady.H264, H265: steady.H265}

// Functions are what package steady calls of the library.
func (l *Library) Functions() steady.Functions {
	return steady.Functions{
		NewPacket: l.symbols["av_new_packet"], UnrefPacket: l.symbols["av_packet_unref"],
		SendPacket: l.symbols["avcodec_send_packet"], ReceiveFrame: l.symbols["avcodec_receive_frame"],
		AllocFrame: l.symbols["av_frame_alloc"], UnrefFrame: l.symbols["av_frame_unref"],
		FreeFrame: l.symbols["av_frame_free"], FramePTS: l.ptsOffset,
	}
}

// Shared is what package steady knows of the decoder. It is the decoder's, and freed with it.
func (d *Decoder) Shared() *steady.Stream { return d.shared }

// Fed takes over what package steady has had decoded: as Decode's answer.
func (d *Decoder) Fed(sent, received int32, pictures []unsafe.Pointer) ([]*Frame, error) {
	var frames []*Frame
	for _, p := range pictures {
		frames = append(frames, &Frame{lib: d.lib, ptr: p, fullRange: d.fullRange(),
			PTS: *(*int64)(unsafe.Add(p, d.lib.ptsOffset))})
	}
	return frames, d.outcome(sent, d.received(received))
}

// Keep takes a frame over, for Kept. It stays until steady.Kept others have come and the next
// access unit is fed: then its memory may be the next picture's.
func (d *Decoder) Keep(f *Frame) {
	s := d.shared
	d.drop()
	last := &s.Last[s.Next]
	*last = steady.Picture{Frame: f.ptr, PTS: f.PTS}
	if f.fullRange || layouts[d.lib.calls.pixFmtName(f.int32(frameFormat))].full {
		last.Full = 1
	}
	s.Next = (s.Next + 1) % steady.Kept
}

// drop frees the oldest of the kept frames, if there are steady.Kept.
func (d *Decoder) drop() { d.lib.free(&d.shared.Last[d.shared.Next].Frame) }

// Kept is the kept frame of that time, the newest if there are several; nil: there is none. It
// stays the decoder's.
func (d *Decoder) Kept(pts int64) *Frame {
	for i := range steady.Kept {
		p := d.shared.Last[(int(d.shared.Next)+2*steady.Kept-1-i)%steady.Kept]
		if p.PTS == pts && p.Frame != nil {
			return &Frame{PTS: pts, lib: d.lib, ptr: p.Frame, fullRange: p.Full != 0}
		}
	}
	return nil
}

// Expect lets package steady decode what comes next, as long as its pictures are like f.
func (d *Decoder) Expect(f *Frame, lumaWidth, lumaHeight int) {
	s := d.shared
	w, h := f.Size()
	number := f.int32(frameFormat)
	layout, ok := layouts[d.lib.calls.pixFmtName(number)]
	if s.Ready = 0; !ok || layout.bits != 8 || d.lib.ptsOffset == 0 || d.fresh || w <= 0 || h <= 0 ||
		w > planar.MaxPixels/h {
		return
	}
	s.Width, s.Height, s.Format = int32(w), int32(h), number
	s.LumaWidth, s.LumaHeight = int32(lumaWidth), int32(lumaHeight)
	if s.Full = 0; layout.full || f.fullRange {
		s.Full = 1
	}
	if s.Planes = 0; layout == layouts["yuv420p"] || layout == layouts["yuvj420p"] {
		s.Planes = 1
	}
	s.Ready = 1
}

// forget frees what is kept.
func (d *Decoder) forget() {
	for i := range d.shared.Last {
		d.lib.free(&d.shared.Last[i].Frame)
	}
	for i := range d.shared.Spare {
		d.lib.free(&d.shared.Spare[i])
	}
	d.lib.release(&d.shared.Budget, math.MaxInt32)
	*d.shared = steady.Stream{}
}

func (l *Library) free(frame *unsafe.Pointer) {
	if *frame != nil {
		l.calls.freeFrame(frame)
		*frame = nil
	}
}
