package jpeg

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"vmsbridge/agent/codec/planar"
)

// maxSide is the largest width or height that libjpeg takes.
const maxSide = 65500

// Header is what a JPEG says of itself.
type Header struct {
	Width, Height int
	Components    int // 1 or 3
	// HorizontalRatio and VerticalRatio are how many luma samples share one of chroma: 2 and 2 for
	// 4:2:0; 1 and 1 without colour.
	HorizontalRatio, VerticalRatio int
}

// The markers that matter (ITU-T T.81, table B.1).
const (
	markerSOF0 = 0xc0
	markerSOF1 = 0xc1
	markerDHT  = 0xc4
	markerJPG  = 0xc8
	markerDAC  = 0xcc
	markerRST0 = 0xd0
	markerRST7 = 0xd7
	markerSOI  = 0xd8
	markerEOI  = 0xd9
	markerSOS  = 0xda
	markerTEM  = 0x01
)

// Check reads a picture's markers from SOI to EOI without decoding: baseline or extended sequential
// Huffman coding with 8 bits, one or three components in a usual subsampling, at most 40
// megapixels, at least one scan, not cut off. Bytes after EOI are ignored, for cameras pad. The
// coded data itself is not looked at. It allocates nothing when all is well.
func Check(data []byte) (Header, error) {
	if len(data) < 4 || data[0] != 0xff || data[1] != markerSOI {
		return Header{}, errors.New("check JPEG: it does not begin with a start-of-image marker")
	}
	var (
		h      Header
		frames int
		scans  int
	)
	for rest := data[2:]; ; {
		marker, after, err := nextMarker(rest)
		if err != nil {
			return Header{}, err
		}
		switch {
		case marker == markerEOI:
			switch {
			case frames == 0:
				return Header{}, errors.New("check JPEG: it has no frame header")
			case scans == 0:
				return Header{}, errors.New("check JPEG: it holds no picture data")
			}
			return h, nil
		case marker == markerTEM || marker >= markerRST0 && marker <= markerRST7:
			rest = after
			continue
		case marker == markerSOI:
			return Header{}, errors.New("check JPEG: a second start-of-image marker is inside it")
		}
		if len(after) < 2 {
			return Header{}, fmt.Errorf("check JPEG: it is cut off in its headers: %w", ErrDamaged)
		}
		size := int(binary.BigEndian.Uint16(after))
		if size < 2 || size > len(after) {
			return Header{}, fmt.Errorf("check JPEG: a segment of %d bytes does not fit: %w", size, ErrDamaged)
		}
		segment := after[2:size]
		rest = after[size:]
		switch {
		case marker == markerSOF0 || marker == markerSOF1:
			if frames++; frames > 1 {
				return Header{}, errors.New("check JPEG: it has two frame headers")
			}
			if h, err = frameHeader(segment); err != nil {
				return Header{}, err
			}
		case marker >= 0xc0 && marker <= 0xcf && marker != markerDHT && marker != markerJPG && marker != markerDAC:
			return Header{}, fmt.Errorf("check JPEG: its coding (SOF%d) is not supported, only baseline is: switch "+
				"the camera to baseline JPEG", marker-markerSOF0)
		case marker == markerSOS:
			if frames == 0 {
				return Header{}, errors.New("check JPEG: picture data comes before the frame header")
			}
			// A sequential picture has at most one scan per component.
			if scans++; scans > h.Components {
				return Header{}, fmt.Errorf("check JPEG: it has more than %d scans", h.Components)
			}
			rest = skipScan(rest)
		}
	}
}

// nextMarker is the code of the marker at the start of b, with fill bytes before it allowed, and
// what follows it.
func nextMarker(b []byte) (byte, []byte, error) {
	if len(b) == 0 {
		return 0, nil, fmt.Errorf("check JPEG: its end-of-image marker is missing: %w", ErrDamaged)
	}
	if b[0] != 0xff {
		return 0, nil, fmt.Errorf("check JPEG: a marker is missing: %w", ErrDamaged)
	}
	for len(b) > 0 && b[0] == 0xff {
		b = b[1:]
	}
	if len(b) == 0 {
		return 0, nil, fmt.Errorf("check JPEG: its end-of-image marker is missing: %w", ErrDamaged)
	}
	if b[0] == 0 {
		return 0, nil, fmt.Errorf("check JPEG: a marker is missing: %w", ErrDamaged)
	}
	return b[0], b[1:], nil
}

// skipScan is b from the first marker that ends the coded data.
func skipScan(b []byte) []byte {
	for {
		at := bytes.IndexByte(b, 0xff)
		if at < 0 || at+1 >= len(b) {
			return nil
		}
		b = b[at:]
		switch next := b[1]; {
		case next == 0 || next >= markerRST0 && next <= markerRST7:
			b = b[2:]
		case next == 0xff:
			b = b[1:]
		default:
			return b
		}
	}
}

func frameHeader(s []byte) (Header, error) {
	if len(s) < 6 {
		return Header{}, fmt.Errorf("check JPEG: its frame header is cut off: %w", ErrDamaged)
	}
	h := Header{
		Height:          int(binary.BigEndian.Uint16(s[1:])),
		Width:           int(binary.BigEndian.Uint16(s[3:])),
		Components:      int(s[5]),
		HorizontalRatio: 1, VerticalRatio: 1,
	}
	switch {
	case s[0] != 8:
		return Header{}, fmt.Errorf("check JPEG: %d bits a sample are not supported, only 8 are", s[0])
	case h.Width == 0 || h.Height == 0:
		return Header{}, fmt.Errorf("check JPEG: its size is %dx%d", h.Width, h.Height)
	case h.Width > maxSide || h.Height > maxSide || int64(h.Width)*int64(h.Height) > planar.MaxPixels:
		return Header{}, fmt.Errorf("check JPEG: %dx%d is more than %d megapixels: lower the camera's resolution",
			h.Width, h.Height, planar.MaxPixels/1_000_000)
	case h.Components != 1 && h.Components != 3:
		return Header{}, fmt.Errorf("check JPEG: %d colour components are not supported, only 1 or 3 are", h.Components)
	case len(s) != 6+3*h.Components:
		return Header{}, fmt.Errorf("check JPEG: its frame header has a wrong length: %w", ErrDamaged)
	}
	if h.Components == 1 {
		return h, nil
	}
	yh, yv := int(s[7]>>4), int(s[7]&15)
	ch, cv := int(s[10]>>4), int(s[10]&15)
	if s[13] != s[10] || ch == 0 || cv == 0 || yh > 4 || yv > 2 || yh%ch != 0 || yv%cv != 0 {
		return Header{}, fmt.Errorf("check JPEG: the chroma subsampling %02x %02x %02x is not supported", s[7], s[10],
			s[13])
	}
	h.HorizontalRatio, h.VerticalRatio = yh/ch, yv/cv
	switch [2]int{h.HorizontalRatio, h.VerticalRatio} {
	case [2]int{1, 1}, [2]int{2, 1}, [2]int{1, 2}, [2]int{2, 2}, [2]int{4, 1}:
		return h, nil
	}
	return Header{}, fmt.Errorf("check JPEG: the chroma subsampling %02x %02x %02x is not supported", s[7], s[10],
		s[13])
}
