package unit

import (
	"math/bits"

	"github.com/bluenviron/mediacommon/v2/pkg/codecs/h264"
)

// content is what the NAL units of one access unit tell without decoding it.
type content struct {
	coded        bool // there is at least one slice
	starts       bool // the first slice is the first of the picture: nothing is missing in front
	randomAccess bool
	recovery     int  // pictures until a gradual refresh (H.264 recovery point) is complete
	leadingOnly  bool // H.265 RASL: not decodable when decoding started at the random access point before it
	mayLead      bool // H.265 CRA or BLA: RASL pictures may follow
}

// look reads the NAL unit headers of an access unit. Empty NAL units are skipped.
func look(codec Codec, nalus [][]byte) content {
	if codec == H265 {
		return lookH265(nalus)
	}
	return lookH264(nalus)
}

func lookH264(nalus [][]byte) content {
	var p content
	for _, n := range nalus {
		if len(n) == 0 {
			continue
		}
		switch typ := h264.NALUType(n[0] & 0x1F); {
		case typ >= h264.NALUTypeNonIDR && typ <= h264.NALUTypeIDR: // 1..5: slices and data partitions
			if !p.coded {
				p.coded = true
				p.starts = len(n) > 1 && n[1]&0x80 != 0 // first_mb_in_slice is 0: one bit
			}
			if typ == h264.NALUTypeIDR {
				p.randomAccess, p.recovery = true, 0
			}
		case typ == h264.NALUTypeSEI && !p.randomAccess:
			if count, ok := recoveryPoint(n); ok {
				p.randomAccess, p.recovery = true, count
			}
		}
	}
	return p
}

func lookH265(nalus [][]byte) content {
	var p content
	for _, n := range nalus {
		if len(n) < 2 {
			continue
		}
		typ := n[0] >> 1 & 0x3F
		if typ > 31 { // not a slice
			continue
		}
		if !p.coded {
			p.coded = true
			p.starts = len(n) > 2 && n[2]&0x80 != 0 // first_slice_segment_in_pic_flag
		}
		switch {
		case typ >= 16 && typ <= 21: // BLA, IDR, CRA
			p.randomAccess = true
			p.mayLead = typ <= 18 || typ == 21
		case typ == 8 || typ == 9:
			p.leadingOnly = true
		}
	}
	return p
}

// recoveryPoint looks for a recovery point message in an H.264 SEI NAL unit (ITU-T H.264 D.1.8) and
// returns recovery_frame_cnt. Streams with gradual refresh have no other random access points.
func recoveryPoint(sei []byte) (count int, ok bool) {
	if len(sei) < 4 || len(sei) > 4096 {
		return 0, false
	}
	b := h264.EmulationPreventionRemove(sei[1:])
	for len(b) > 2 { // the rest is rbsp_trailing_bits
		var kind, size int
		for _, v := range []*int{&kind, &size} {
			for len(b) > 0 && b[0] == 0xFF {
				*v += 255
				b = b[1:]
			}
			if len(b) == 0 {
				return 0, false
			}
			*v += int(b[0])
			b = b[1:]
		}
		if size > len(b) {
			return 0, false
		}
		if kind == 6 {
			n, ok := golomb(b[:size])
			return int(min(n, 1<<16)), ok
		}
		b = b[size:]
	}
	return 0, false
}

// golomb reads an unsigned Exp-Golomb code (ITU-T H.264 9.1) from the first bit of b.
func golomb(b []byte) (uint32, bool) {
	var v uint64
	for i := range min(len(b), 8) {
		v |= uint64(b[i]) << (56 - 8*i)
	}
	zeros := bits.LeadingZeros64(v)
	if zeros > 31 || 2*zeros+1 > 8*len(b) {
		return 0, false
	}
	return uint32(v>>(63-2*zeros)) - 1, true
}
