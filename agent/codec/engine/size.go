package engine

import (
	"bytes"
	"fmt"

	"github.com/bluenviron/mediacommon/v2/pkg/codecs/h264"
	"github.com/bluenviron/mediacommon/v2/pkg/codecs/h265"
)

// demand is what a stream's parameter sets ask for.
type demand struct {
	width, height int
	references    int   // pictures that the decoder keeps to refer to
	bytes         int64 // of memory, for all pictures that are there at one time
	picture       int64 // of one
	eighths       int   // of a byte for a pixel
}

// fits looks at the parameter sets in an access unit before libavcodec does, which would take
// memory for all that they ask for. *UnsupportedError: it is too much; the stream is refused until
// it sends others.
func (d *Decoder) fits(au []byte) error {
	for unit := range units(au) {
		if !isSet(d.format, unit) {
			continue
		}
		d.seen(unit)
		need, ok := demandOf(d.format, unit)
		if !ok || d.most == 0 {
			continue
		}
		if d.asked, d.refused = need, nil; need.bytes > d.most {
			d.refused = d.tooMuch(need, "to refer to", d.most)
			break
		}
		d.bound()
	}
	if d.refused != nil {
		d.video.Shared().Ready = 0
	}
	return d.refused
}

func (d *Decoder) tooMuch(need demand, why string, most int64) error {
	return &UnsupportedError{Format: d.format,
		Reason: fmt.Sprintf("its pictures of %dx%d with %d %s take %d MB of memory, and this machine allows a stream "+
			"%d MB", need.width, need.height, need.references, why, need.bytes>>20, most>>20),
		Hint: "set the camera to a smaller picture or fewer reference frames, or use its second stream"}
}

// bound is the memory that the stream's pictures may take: more than its parameter sets ask for, as
// libavcodec keeps some while they wait for their order, but not all that the machine allows if it
// asks for little.
func (d *Decoder) bound() {
	b := &d.video.Shared().Budget
	most := d.most
	if d.asked.bytes > 0 {
		most = min(max(leastBytes, 2*d.asked.bytes), d.most/2*3)
	}
	b.Most, b.Eighths = most, int32(max(d.asked.eighths, eighths(1, 0)))
}

// leastBytes is what every stream may take, unless the machine allows less.
const leastBytes = 128 << 20

// delivers looks whether libavcodec wanted more memory for pictures than the stream may take,
// whatever its parameter sets say: its pictures are larger, wait for their order, or refer to
// others that were never sent, which libavcodec makes up. The stream is refused until it sends
// parameter sets again, and what it holds is freed.
func (d *Decoder) delivers() error {
	b := &d.video.Shared().Budget
	if b.Denied == 0 {
		return nil
	}
	need := demanded(int(b.DeniedWidth), int(b.DeniedHeight), 0, 1, 0)
	need.references, need.bytes = int(b.Denied), max(need.picture, b.Bytes+need.picture)
	b.Denied = 0
	return d.refuse(d.tooMuch(need, "at one time", b.Most))
}

// refuse ends the stream, and frees what libavcodec holds of it.
func (d *Decoder) refuse(why error) error {
	d.refused = why
	frames, _ := d.video.Flush() // nobody gets them
	for _, f := range frames {
		f.Close()
	}
	d.video.Release()
	return why
}

// seen notes a parameter set for package steady, which leaves to Go each unit with another one.
func (d *Decoder) seen(set []byte) {
	s := d.video.Shared()
	if s.SetBytes = 0; len(set) <= len(s.Set) {
		s.SetBytes = int32(copy(s.Set[:], set))
	}
}

// units are the NAL units of an Annex B access unit, without start codes.
func units(au []byte) func(yield func([]byte) bool) {
	start := []byte{0, 0, 1}
	return func(yield func([]byte) bool) {
		at := bytes.Index(au, start)
		for at >= 0 {
			au = au[at+len(start):]
			unit := au
			if at = bytes.Index(au, start); at >= 0 {
				unit = au[:at]
			}
			if len(unit) > 0 && !yield(unit) {
				return
			}
		}
	}
}

// The NAL unit types of sequence parameter sets: ITU-T H.264 table 7-1, H.265 table 7-1.
const (
	setH264 = 7
	setH265 = 33
)

// isSet reports whether a unit is a sequence parameter set.
func isSet(f Format, unit []byte) bool {
	return f == H264 && unit[0]&0x1f == setH264 || f == H265 && unit[0]>>1&0x3f == setH265
}

// demandOf reads a sequence parameter set; false: it is none, or none of which the size can be
// read. Of one that is cut off or wrong behind the size, what was read before counts: libavcodec
// takes such sets. One that only libavcodec can read is left to it and to delivers.
func demandOf(f Format, unit []byte) (demand, bool) {
	switch {
	case !isSet(f, unit):
		return demand{}, false
	case f == H264:
		var sps h264.SPS
		if sps.Unmarshal(unit) != nil && (sps.PicWidthInMbsMinus1 == 0 || sps.PicHeightInMapUnitsMinus1 == 0) {
			return demand{}, false
		}
		references := int(sps.MaxNumRefFrames)
		if sps.VUI != nil && sps.VUI.BitstreamRestriction != nil {
			references = max(references, int(sps.VUI.BitstreamRestriction.MaxDecFrameBuffering))
		}
		chroma := max(sps.ChromaFormatIdc, 1) // most profiles have no other, and do not say it
		return demanded(sps.Width(), sps.Height(), references, chroma,
			max(sps.BitDepthLumaMinus8, sps.BitDepthChromaMinus8)), true
	case f == H265:
		var sps h265.SPS
		if sps.Unmarshal(unit) != nil && (sps.PicWidthInLumaSamples == 0 || sps.PicHeightInLumaSamples == 0) {
			return demand{}, false
		}
		references := 1
		for _, n := range sps.MaxDecPicBufferingMinus1 {
			references = max(references, int(n)+1)
		}
		return demanded(sps.Width(), sps.Height(), references, sps.ChromaFormatIdc,
			max(sps.BitDepthLumaMinus8, sps.BitDepthChromaMinus8)), true
	}
	return demand{}, false
}

// maxReferences is the most that both standards allow.
const maxReferences = 16

// demanded is the memory for the pictures referred to, the one that is decoded and those kept for
// stills.
func demanded(w, h, references int, chroma, moreBits uint32) demand {
	d := demand{width: w, height: h, references: min(max(references, 0), maxReferences)}
	if w <= 0 || h <= 0 || w > 1<<16 || h > 1<<16 {
		return d // libavcodec refuses it
	}
	d.eighths = eighths(chroma, moreBits)
	d.picture = int64(w) * int64(h) / 8 * int64(d.eighths)
	d.bytes = d.picture * int64(d.references+1+kept)
	return d
}

// eighths is the memory for a pixel in eighths of a byte: the samples, and libavcodec's tables of
// what moved where.
func eighths(chroma, moreBits uint32) int {
	samples := map[uint32]int{0: 8, 1: 12, 2: 16, 3: 24}[chroma]
	if samples == 0 {
		samples = 24
	}
	if moreBits > 0 {
		samples *= 2
	}
	const tables = 5
	return samples + tables
}
