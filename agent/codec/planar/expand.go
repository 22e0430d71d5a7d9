package planar

import "image"

// The tables that turn limited range (ITU-R BT.601 and BT.709: luma 16 to 235, chroma 16 to 240
// around 128) into the full range that JPEG and the detector use.
var (
	expandLuma   = rangeTable(16, 0, 219)
	expandChroma = rangeTable(128, 128, 224)
)

// rangeTable maps v to centre + (v-from)·255/span, rounded half away from zero and cut to a byte.
func rangeTable(from, centre, span int) (t [256]byte) {
	for v := range t {
		scaled := (v - from) * 255 * 2
		if scaled >= 0 {
			scaled = (scaled + span) / (2 * span)
		} else {
			scaled = (scaled - span) / (2 * span)
		}
		t[v] = byte(min(255, max(0, centre+scaled)))
	}
	return t
}

// Expand turns limited range into full range, padding and all.
func Expand(m *image.YCbCr) {
	expand(m.Y, &expandLuma)
	expand(m.Cb, &expandChroma)
	expand(m.Cr, &expandChroma)
}

func expand(pix []byte, table *[256]byte) {
	for i, v := range pix {
		pix[i] = table[v]
	}
}
