package avcodec

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"

	"unsafe"

	"vmsbridge/agent/codec/planar"
	"vmsbridge/agent/codec/steady"
)

// The largest access unit that a decoder takes, in bytes and in NAL units. A picture of many slices
// has some hundred; libavcodec needs many seconds for the millions of empty ones that would fit.
const (
	MaxAccessUnit = 16 << 20
	MaxUnits      = 4096
)

// Decoder decodes one stream, on the thread of its caller. Not safe for concurrent use; free of
// others.
type Decoder struct {
	lib    *Library
	codec  Codec
	named  string // the decoder's name; "": libavcodec's own
	ctx    unsafe.Pointer
	packet unsafe.Pointer
	fed    timeHeap // the times of pictures that did not come out yet; used only without lib.ptsOffset
	fresh  bool     // nothing was fed since the decoder was opened or flushed
	shared *steady.Stream
}

// NewDecoder opens a decoder with one thread. For H.264 the loop filter is skipped: a fifth less
// work, and the small drift until the next keyframe does not matter to stills and motion. For H.265
// it would.
func (l *Library) NewDecoder(c Codec, preferred bool) (*Decoder, error) {
	if err := l.failed[c]; err != nil {
		return nil, fmt.Errorf("open decoder %s: %w", c, err)
	}
	options := [][2]string{}
	if c == H264 {
		options = append(options, [2]string{"skip_loop_filter", "all"})
	}
	if name := l.preferred[c]; name != "" && preferred {
		if d, err := l.open(c, name, options); err == nil {
			return d, nil // hardware may serve a few streams and no more
		}
	}
	return l.open(c, "", options)
}

func (l *Library) open(c Codec, name string, options [][2]string) (*Decoder, error) {
	codec := l.calls.findDecoder(cmp.Or(name, string(c)))
	if codec == nil {
		return nil, fmt.Errorf("open decoder %s: this libavcodec was built without it", cmp.Or(name, string(c)))
	}
	d := &Decoder{lib: l, codec: c, named: name, fresh: true, shared: &steady.Stream{Codec: steadyCodec[c]}}
	d.ctx, d.packet = l.calls.allocContext(codec), l.calls.allocPacket()
	if d.ctx == nil || d.packet == nil {
		d.Close()
		return nil, fmt.Errorf("open decoder %s: out of memory", c)
	}
	options = append(options, [2]string{"threads", "1"}, [2]string{"max_pixels", strconv.Itoa(planar.MaxPixels)})
	for _, o := range options {
		if code := l.calls.optSet(d.ctx, o[0], o[1], 0); code < 0 {
			d.Close()
			return nil, fmt.Errorf("set %s of decoder %s: %w", o[0], c, l.err(code))
		}
	}
	d.bound()
	if code := l.calls.openContext(d.ctx, codec, nil); code < 0 {
		d.Close()
		return nil, fmt.Errorf("open decoder %s: %w", c, l.err(code))
	}
	d.shared.Context, d.shared.Packet = d.ctx, d.packet
	return d, nil
}

// The fields of AVPacket, the same in majors 58 to 62.
const (
	packetPTS  = 8
	packetData = 24
)

// Decode feeds one access unit (Annex B) and answers the pictures that came out, in presentation
// order; the caller must Close them. pts comes back with its picture. Pictures may come together
// with an error: the error is about this access unit, which was not decodable, the pictures are
// earlier ones.
func (d *Decoder) Decode(au []byte, pts int64) ([]*Frame, error) {
	if len(au) == 0 || len(au) > MaxAccessUnit {
		return nil, fmt.Errorf("decode %s: an access unit of %d bytes is not within 1 to %d", d.codec, len(au),
			MaxAccessUnit)
	}
	if n := bytes.Count(au, []byte{0, 0, 1}); n > MaxUnits {
		return nil, fmt.Errorf("decode %s: an access unit of %d NAL units is more than %d", d.codec, n, MaxUnits)
	}
	if d.fresh && d.codec == H265 && !randomAccessH265(au) {
		return nil, nil // libavcodec would make up the pictures that this one refers to; for H.264 it waits by itself
	}
	c := &d.lib.calls
	if code := c.newPacket(d.packet, int32(len(au))); code < 0 {
		return nil, fmt.Errorf("decode %s: %w", d.codec, d.lib.err(code))
	}
	data := *(*unsafe.Pointer)(unsafe.Add(d.packet, packetData))
	copy(unsafe.Slice((*byte)(data), len(au)), au)
	*(*int64)(unsafe.Add(d.packet, packetPTS)) = pts
	if d.lib.ptsOffset == 0 {
		d.fed.push(pts)
	}
	d.fresh = false
	d.drop()
	code := c.sendPacket(d.ctx, d.packet)
	c.unrefPacket(d.packet)
	frames, err := d.receive()
	if code < 0 {
		d.fed.remove(pts)
	}
	return frames, d.outcome(code, err)
}

// outcome is the error of an access unit: what libavcodec answered to it, and to being asked for
// pictures.
func (d *Decoder) outcome(sent int32, received error) error {
	if sent < 0 {
		received = errors.Join(d.lib.err(sent), received)
	}
	if received != nil {
		return fmt.Errorf("decode %s: %w", d.codec, received)
	}
	return nil
}

// Flush ends the stream: what is delayed comes out, and the decoder is as new.
func (d *Decoder) Flush() ([]*Frame, error) {
	if d.fresh {
		return nil, nil
	}
	c := &d.lib.calls
	c.sendPacket(d.ctx, nil)
	frames, err := d.receive()
	c.flushBuffers(d.ctx)
	d.fed, d.fresh, d.shared.Ready = nil, true, 0
	if err != nil {
		return frames, fmt.Errorf("flush %s: %w", d.codec, err)
	}
	return frames, nil
}

// maxFrames bounds what one call may answer; H.264 and H.265 delay 16 pictures at most.
const maxFrames = 32

func (d *Decoder) receive() ([]*Frame, error) {
	var frames []*Frame
	for len(frames) < maxFrames {
		f := &Frame{lib: d.lib, ptr: d.lib.calls.allocFrame()}
		if f.ptr == nil {
			return frames, errors.New("out of memory")
		}
		code := d.lib.calls.receiveFrame(d.ctx, f.ptr)
		if code < 0 {
			f.Close()
			return frames, d.received(code)
		}
		f.fullRange = d.fullRange()
		if at := d.lib.ptsOffset; at != 0 {
			f.PTS = *(*int64)(unsafe.Add(f.ptr, at))
		} else {
			f.PTS = d.fed.pop()
		}
		frames = append(frames, f)
	}
	return frames, nil
}

// received is the error of being asked for pictures.
func (d *Decoder) received(code int32) error {
	if code >= 0 || code == errAgain || code == errEOF {
		return nil
	}
	return d.lib.err(code)
}

// fullRange asks what the stream's parameter sets say; a stream that says nothing is limited.
func (d *Decoder) fullRange() bool {
	const rangeJPEG = 2 // AVCOL_RANGE_JPEG
	var v int64
	return d.lib.calls.optGetInt(d.ctx, "color_range", 0, &v) >= 0 && v == rangeJPEG
}

// Close frees the decoder and the frames that it keeps; others stay valid until they are closed.
func (d *Decoder) Close() {
	d.forget()
	if d.packet != nil {
		d.lib.calls.freePacket(&d.packet)
		d.packet = nil
	}
	if d.ctx != nil {
		d.lib.calls.freeContext(&d.ctx)
		d.ctx = nil
	}
}

// randomAccessH265 says whether an Annex B access unit holds a picture at which decoding can start
// (nal_unit_type 16 to 23, ITU-T H.265 table 7-1).
func randomAccessH265(au []byte) bool {
	for {
		at := bytes.Index(au, []byte{0, 0, 1})
		if at < 0 || at+3 >= len(au) {
			return false
		}
		if t := au[at+3] >> 1 & 0x3f; t >= 16 && t <= 23 {
			return true
		}
		au = au[at+3:]
	}
}

// timeHeap keeps the times that were fed, ascending: pictures come out in presentation order, so
// the smallest is the next one's. It holds a few more than a decoder can delay; older ones belong
// to pictures that never came out.
type timeHeap []int64

func (h *timeHeap) push(t int64) {
	at := len(*h)
	for at > 0 && (*h)[at-1] > t {
		at--
	}
	*h = append(*h, 0)
	copy((*h)[at+1:], (*h)[at:])
	(*h)[at] = t
	if len(*h) > maxFrames {
		*h = (*h)[1:]
	}
}

func (h *timeHeap) pop() int64 {
	if len(*h) == 0 {
		return math.MinInt64
	}
	t := (*h)[0]
	*h = (*h)[1:]
	return t
}

func (h *timeHeap) remove(t int64) {
	for i, v := range *h {
		if v == t {
			*h = append((*h)[:i], (*h)[i+1:]...)
			return
		}
	}
}
