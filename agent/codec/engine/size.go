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
			d.refused = d.tooMuch(need, "to refer to")
			break
		}
	}
	if d.refused != nil {
		d.video.Shared().Ready = 0
	}
	return d.refused
}

func (d *Decoder) tooMuch(need demand, why string) error {
	return &UnsupportedError{Format: d.format,
		Reason: fmt.Sprintf("its pictures of %dx%d with %d %s take %d MB of memory, and this machine allows a stream "+
			"%d MB", need.width, need.height, need.references, why, need.bytes>>20, d.most>>20),
		Hint: "set the camera to a smaller picture or fewer reference frames, or use its second stream"}
}

// block is how far a picture may differ from what is asked for: by its cropping, in blocks of the
// largest size.
const block = 64

// delivers looks at how many pictures came out, and the largest, where that is more than the
// parameter sets asked for: it is larger, of sets that only libavcodec could read, or none comes
// out, as they wait for their order, for which libavcodec keeps up to 16 whatever the sets say. A
// stream that takes too much is refused until it sends other sets, and what it holds is freed.
func (d *Decoder) delivers(n int, largest Picture) error {
	if d.most == 0 {
		return nil
	}
	if w, h := largest.Width, largest.Height; w >= d.asked.width+block || h >= d.asked.height+block {
		if need := demanded(w, h, maxReferences, 1, 0); need.bytes > d.most {
			return d.refuse(d.tooMuch(need, "to refer to at most, as its parameter sets cannot be read,"))
		}
	}
	if n > 0 {
		return nil
	}
	if delay := d.video.Delay(); delay > d.asked.references {
		if need := d.asked.with(delay); need.bytes > d.most {
			return d.refuse(d.tooMuch(need, "that wait for their order"))
		}
	}
	return nil
}

// refuse ends the stream, and frees what libavcodec holds of it.
func (d *Decoder) refuse(why error) error {
	d.refused = why
	frames, _ := d.video.Flush() // nobody gets them
	for _, f := range frames {
		f.Close()
	}
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
	// In eighths of a byte for a pixel: the samples, and libavcodec's tables of what moved where.
	samples := map[uint32]int64{0: 8, 1: 12, 2: 16, 3: 24}[chroma]
	if samples == 0 {
		samples = 24
	}
	if moreBits > 0 {
		samples *= 2
	}
	const tables = 5
	d.picture = int64(w) * int64(h) / 8 * (samples + tables)
	return d.with(d.references)
}

// with is the same of so many pictures that are kept to refer to, or wait.
func (d demand) with(references int) demand {
	d.references = references
	d.bytes = d.picture * int64(references+1+kept)
	return d
}
