package unit

import (
	"bytes"
	"maps"
	"slices"

	"github.com/bluenviron/mediacommon/v2/pkg/codecs/h264"
	"github.com/bluenviron/mediacommon/v2/pkg/codecs/h265"
)

// Limits for parameter sets, far above what cameras send.
const (
	maxParameterSets     = 32
	maxParameterSetBytes = 4096
)

// params collects the parameter sets of a stream, from the description and from the stream itself,
// each under its kind and id so that a stream may use several. They are put in front of every
// random access point.
type params struct {
	codec   Codec
	sets    map[setKey][]byte
	sent    []byte // what was put in front of the last new stream
	current []byte // all sets as Annex B, nil if it must be built again

	width, height int
	reorder       bool // from the SPS: B-frames are possible
}

// setKey orders the sets as a decoder needs them: VPS, SPS, PPS.
type setKey struct {
	kind int // 0 VPS, 1 SPS, 2 PPS
	id   uint32
}

func newParams(codec Codec) *params { return &params{codec: codec, sets: map[setKey][]byte{}} }

// key says whether a NAL unit is a parameter set. The id of a set that cannot be read is taken as
// 0.
func (p *params) key(n []byte) (setKey, bool) {
	if len(n) < 2 {
		return setKey{}, false
	}
	if p.codec == H264 {
		switch h264.NALUType(n[0] & 0x1F) {
		case h264.NALUTypeSPS:
			if len(n) < 5 {
				return setKey{}, false
			}
			id, _ := golomb(n[4:])
			return setKey{1, id}, true
		case h264.NALUTypePPS:
			id, _ := golomb(n[1:])
			return setKey{2, id}, true
		}
		return setKey{}, false
	}
	switch h265.NALUType(n[0] >> 1 & 0x3F) {
	case h265.NALUType_VPS_NUT:
		if len(n) < 3 {
			return setKey{}, false
		}
		return setKey{0, uint32(n[2] >> 4)}, true
	case h265.NALUType_SPS_NUT:
		sps, ok := parseH265(n)
		if !ok {
			return setKey{1, 0}, true
		}
		return setKey{1, uint32(sps.ID)}, true
	case h265.NALUType_PPS_NUT:
		if len(n) < 3 {
			return setKey{}, false
		}
		id, _ := golomb(n[2:])
		return setKey{2, id}, true
	}
	return setKey{}, false
}

// absorb takes the parameter sets out of an access unit, or out of a description. The slices are
// copied.
func (p *params) absorb(nalus ...[]byte) {
	for _, n := range nalus {
		if p.codec == H265 && (len(n) < 2 || n[0]>>1&0x3F < 32 || n[0]>>1&0x3F > 34) {
			continue // spares parsing an SPS for every slice
		}
		k, ok := p.key(n)
		if !ok || len(n) > maxParameterSetBytes || bytes.Equal(p.sets[k], n) {
			continue
		}
		if _, known := p.sets[k]; !known && len(p.sets) >= maxParameterSets {
			continue
		}
		p.sets[k] = bytes.Clone(n)
		p.current = nil
		if k.kind == 1 {
			p.size(n)
		}
	}
}

// complete says that decoding is possible: at least one set of each kind.
func (p *params) complete() bool {
	var have [3]bool
	for k := range p.sets {
		have[k.kind] = true
	}
	return have[1] && have[2] && (have[0] || p.codec == H264)
}

// prefix returns all sets as Annex B, and whether they differ from those of the last call.
func (p *params) prefix() (annexB []byte, changed bool) {
	if p.current == nil {
		keys := slices.SortedFunc(maps.Keys(p.sets), func(a, b setKey) int {
			if a.kind != b.kind {
				return a.kind - b.kind
			}
			return int(a.id) - int(b.id)
		})
		p.current = []byte{}
		for _, k := range keys {
			p.current = append(append(p.current, 0, 0, 0, 1), p.sets[k]...)
		}
	}
	changed = !bytes.Equal(p.current, p.sent)
	p.sent = p.current
	return p.current, changed
}

// size reads width, height and whether B-frames are possible from an SPS; 0, 0, true if it cannot
// be read.
func (p *params) size(sps []byte) {
	p.width, p.height, p.reorder = 0, 0, true
	if p.codec == H264 {
		p.width, p.height, p.reorder = sizeH264(sps)
		return
	}
	if s, ok := parseH265(sps); ok {
		p.width, p.height = sane(s.Width(), s.Height())
		p.reorder = false
		for _, n := range s.MaxNumReorderPics {
			p.reorder = p.reorder || n > 0
		}
	}
}

func sizeH264(b []byte) (width, height int, reorder bool) {
	defer func() {
		if recover() != nil { // the parser is not ours and the bytes are the camera's
			width, height, reorder = 0, 0, true
		}
	}()
	var s h264.SPS
	if s.Unmarshal(b) != nil {
		return 0, 0, true
	}
	reorder = s.PicOrderCntType != 2 && s.ProfileIdc != 66
	if s.VUI != nil && s.VUI.BitstreamRestriction != nil {
		reorder = s.VUI.BitstreamRestriction.MaxNumReorderFrames > 0
	}
	width, height = sane(s.Width(), s.Height())
	return width, height, reorder
}

// parseH265 reads an SPS whose Width and Height can be asked without an index out of range.
func parseH265(b []byte) (s *h265.SPS, ok bool) {
	defer func() {
		if recover() != nil {
			s, ok = nil, false
		}
	}()
	s = new(h265.SPS)
	if s.Unmarshal(b) != nil || s.ChromaFormatIdc > 3 {
		return nil, false
	}
	return s, true
}

// sane returns 0, 0 for sizes that no camera has.
func sane(width, height int) (int, int) {
	if width < 8 || height < 8 || width > 1<<15 || height > 1<<15 {
		return 0, 0
	}
	return width, height
}
