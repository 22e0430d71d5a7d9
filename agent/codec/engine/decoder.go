package engine

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"unsafe"

	"vmsbridge/agent/codec/avcodec"
	"vmsbridge/agent/codec/jpeg"
	"vmsbridge/agent/codec/planar"
	"vmsbridge/agent/codec/steady"
)

// kept is how many of the last pictures stay for Still.
const kept = steady.Kept

// Decoder decodes one stream. Not safe for concurrent use.
type Decoder struct {
	format     Format
	lumaPixels int
	jpegs      *jpeg.Codec
	video      *avcodec.Decoder // nil for MJPEG
	own        func() (*avcodec.Decoder, error)
	barren     int                     // access units that a decoder by name took in a row, without a picture
	most       int64                   // that the pictures may take in memory; 0: no limit
	asked      demand                  // of the stream's last parameter sets that could be read
	refused    error                   // the stream's last parameter sets ask for more, or it takes more
	lumaFrom   int64                   // of pictures that are to have luma
	room       *atomic.Pointer[[]byte] // its engine's

	last    [kept]keptPicture // with MJPEG; video keeps its own
	next    int               // where in last the next picture goes
	pending []Picture         // came out together with an error; answered by the next call
}

// keptPicture is the camera's own JPEG, for Still.
type keptPicture struct {
	pts           int64
	width, height int
	jpeg          []byte
}

// Decode feeds one access unit and answers the pictures that came out, in presentation order. An
// error is about this access unit; the decoder stays usable, and pictures that were ready come with
// the next call. It never panics.
func (d *Decoder) Decode(au []byte, pts int64) (pictures []Picture, err error) {
	defer d.recovered(&err)
	if d.format == MJPEG {
		p, err := d.decodeJPEG(au, pts)
		if err != nil {
			return nil, err
		}
		return []Picture{p}, nil
	}
	if err := d.fits(au); err != nil {
		return nil, err
	}
	frames, err := d.video.Decode(au, pts)
	if d.video.Named() != "" {
		if d.barren++; len(frames) > 0 {
			d.barren = 0
		} else if d.barren == maxBarren {
			return nil, d.giveUp(err)
		}
	}
	return d.take(frames, err)
}

// maxBarren is how many access units in a row a decoder that was asked for by name takes without a
// picture, until libavcodec's own decodes the stream. Hardware that is gone, or busy with others,
// gives none; a stream whose keyframe was lost may, for some seconds, and loses nothing by it.
const maxBarren = 100

// giveUp has libavcodec's own decoder decode the stream from now on.
func (d *Decoder) giveUp(last error) error {
	named := d.video.Named()
	video, err := d.own()
	if err != nil {
		return errors.Join(last, err)
	}
	d.video.Close()
	d.video, d.barren = video, 0
	if d.most != 0 {
		d.bound()
	}
	return errors.Join(fmt.Errorf("%s gave no picture for %d access units: the stream is decoded in software "+
		"from now on", named, maxBarren), last)
}

// LumaFrom has pictures before pts come without luma from the next call on. In the beginning all
// have it.
func (d *Decoder) LumaFrom(pts int64) { d.lumaFrom = pts }

// Flush ends the stream: what is delayed comes out, and the decoder is as new. Pictures stay for
// Still.
func (d *Decoder) Flush() (pictures []Picture, err error) {
	defer d.recovered(&err)
	if d.format == MJPEG {
		return nil, nil
	}
	frames, err := d.video.Flush()
	return d.take(frames, err)
}

// Fed is Decode's answer where package steady has had the access unit decoded.
func (d *Decoder) Fed(sent, received int32, frames []unsafe.Pointer) (pictures []Picture, err error) {
	defer d.recovered(&err)
	taken, err := d.video.Fed(sent, received, frames)
	return d.take(taken, err)
}

// Shared is what package steady knows of the decoder; nil where that has no part: with MJPEG, and
// with a decoder by name, which may have to be replaced.
func (d *Decoder) Shared() *steady.Stream {
	if d.video == nil || d.video.Named() != "" {
		return nil
	}
	return d.video.Shared()
}

// take reduces frames and keeps them for Still.
func (d *Decoder) take(frames []*avcodec.Frame, err error) ([]Picture, error) {
	pictures := d.pending
	d.pending = nil
	shared := d.video.Shared()
	shared.Ready = 0 // unless all is well, below
	for _, f := range frames {
		p, ferr := d.picture(f)
		if ferr != nil {
			f.Close()
			err = errors.Join(err, ferr)
			continue
		}
		pictures = append(pictures, p)
		w, h := d.lumaSize(p.Width, p.Height)
		d.video.Expect(f, w, h)
		d.video.Keep(f)
	}
	if more := d.delivers(); more != nil {
		err = more // what libavcodec says comes of it
	}
	if err != nil {
		if len(pictures) > maxPending {
			pictures = pictures[len(pictures)-maxPending:]
		}
		d.pending, shared.Ready = pictures, 0
		return nil, err
	}
	return pictures, nil
}

// maxPending bounds the pictures that wait behind errors.
const maxPending = 16

func (d *Decoder) picture(f *avcodec.Frame) (Picture, error) {
	m, err := f.Image()
	if err != nil {
		return Picture{}, unsupportedPixels(d.format, err)
	}
	return d.reduced(m, f.PTS), nil
}

func (d *Decoder) reduced(m planar.Image, pts int64) Picture {
	p := Picture{PTS: pts, Width: m.Width, Height: m.Height}
	if d.lumaPixels > 0 && pts >= d.lumaFrom {
		p.LumaWidth, p.LumaHeight = d.lumaSize(m.Width, m.Height)
		p.Luma = planar.Luma(m, p.LumaWidth, p.LumaHeight)
	}
	return p
}

// lumaSize is that of the luma of pictures that have one.
func (d *Decoder) lumaSize(width, height int) (w, h int) {
	if d.lumaPixels == 0 {
		return 0, 0
	}
	return planar.Fit(width, height, d.lumaPixels)
}

func unsupportedPixels(f Format, err error) error {
	if errors.Is(err, avcodec.ErrFormat) {
		return &UnsupportedError{Format: f, Reason: err.Error(), Hint: "switch the camera to 8-bit 4:2:0"}
	}
	return err
}

// decodeJPEG decodes only if luma is wanted; else it checks the headers. The picture itself is kept
// as the camera sent it.
func (d *Decoder) decodeJPEG(data []byte, pts int64) (Picture, error) {
	h, err := jpeg.Check(data)
	if err != nil {
		return Picture{}, err
	}
	p := Picture{PTS: pts, Width: h.Width, Height: h.Height}
	if d.lumaPixels > 0 && pts >= d.lumaFrom {
		m, err := d.jpegs.Decode(data)
		if err != nil {
			return Picture{}, err
		}
		p = d.reduced(m, pts)
	}
	d.keep(keptPicture{pts: pts, width: h.Width, height: h.Height, jpeg: append([]byte(nil), data...)})
	return p, nil
}

func (d *Decoder) keep(p keptPicture) {
	d.last[d.next] = p
	d.next = (d.next + 1) % kept
}

// find is the kept JPEG of that time, the newest if there are several.
func (d *Decoder) find(pts int64) *keptPicture {
	for i := range kept {
		p := &d.last[(d.next+2*kept-1-i)%kept]
		if p.pts == pts && p.jpeg != nil {
			return p
		}
	}
	return nil
}

// Still is a JPEG of a picture that came out recently, shrunk to at most maxWidth pixels a row (0:
// full size), in the quality 1 to 100. An MJPEG camera's picture in full size is the camera's own
// JPEG, byte for byte. ErrGone: not kept.
func (d *Decoder) Still(pts int64, maxWidth, quality int) (still []byte, err error) {
	defer d.recovered(&err)
	var m planar.Image
	if d.video != nil {
		f := d.video.Kept(pts)
		if f == nil {
			return nil, ErrGone
		}
		m, err = f.Image()
	} else {
		p := d.find(pts)
		if p == nil {
			return nil, ErrGone
		}
		if w, _ := planar.FitWidth(p.width, p.height, maxWidth); w == p.width {
			return append([]byte(nil), p.jpeg...), nil
		}
		m, err = d.jpegs.Decode(p.jpeg)
	}
	if err != nil {
		return nil, fmt.Errorf("make still: %w", err)
	}
	w, h := planar.FitWidth(m.Width, m.Height, maxWidth)
	room := d.room.Swap(nil)
	if room == nil {
		room = new([]byte)
	}
	limited := !m.FullRange
	m.FullRange = true
	planes := planar.YCbCr420In(room, m, w, h)
	if limited {
		steady.Expand(planes)
	}
	if still, err = d.jpegs.Encode(planes, quality); err != nil {
		return nil, fmt.Errorf("make still: %w", err)
	}
	if cap(*room) <= maxRoom {
		d.room.Store(room)
	}
	return still, nil
}

// maxRoom is how much an engine keeps for the next still: that of a picture of 1920x1080.
const maxRoom = 4 << 20

// Close frees the decoder and the pictures it kept.
func (d *Decoder) Close() {
	if d.video != nil {
		d.video.Close()
	}
}

// recovered turns a panic, a bug of ours that some stream brought to light, into an error of that
// stream.
func (d *Decoder) recovered(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("decode %s: internal error: %v\n%s", d.format, r, debug.Stack())
	}
}
