package motion

// The bits of a cell's flags.
const (
	cellFore  = 1 << 0 // differs from the background
	cellMoved = 1 << 1 // differs from a moment ago
)

// The caps of the learned noise, in 1/256 grey levels: in general, so that a cell does not become blind, and for what flickers all by itself.
const (
	maxNoise  = 9 << 8
	twigNoise = 45 << 8
)

// threshold is what a cell must differ by: the contrast asked for, or four times its learned noise and a bit, whichever is more.
func threshold(contrast int32, noise uint16) int32 {
	return max(contrast, 384+int32(noise)*4)
}

// classifyPlain is the reference: it flags each cell that differs from before (under the exposure e) or from the background by more than the threshold.
func classifyPlain(now, before []uint16, e exposure, background, noise []uint16, contrast int32, flags []byte) {
	for i, v := range now {
		limit := threshold(contrast, noise[i])
		var f byte
		if abs32(int32(v)-e.apply(before[i])) > limit {
			f |= cellMoved
		}
		if abs32(int32(v)-int32(background[i])) > limit {
			f |= cellFore
		}
		flags[i] = f
	}
}

// classify is classifyPlain without branches and bounds checks in the loop.
func classify(now, before []uint16, e exposure, background, noise []uint16, contrast int32, flags []byte) {
	n := len(now)
	before, background, noise, flags = before[:n], background[:n], noise[:n], flags[:n]
	gain, offset := uint64(e.gain), e.offset
	for i := range now {
		v := int32(now[i])
		limit := max(contrast, 384+int32(noise[i])*4)
		x := int32(uint64(before[i])*gain>>12) + offset
		x = max(0, min(65535, x))
		// The sign bit of limit - difference is set when the difference is larger.
		moved := uint32(limit-abs32(v-x)) >> 31
		fore := uint32(limit-abs32(v-int32(background[i]))) >> 31
		flags[i] = byte(fore | moved<<1)
	}
}
