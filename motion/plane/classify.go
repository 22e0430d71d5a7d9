package plane

// The bits of a cell's flags.
const (
	Fore  = 1 << 0 // differs from the background
	Moved = 1 << 1 // differs from a moment ago
)

// Threshold is what a cell must differ by: the contrast asked for, or four times its learned noise
// and a bit, whichever is more.
func Threshold(contrast int32, noise uint16) int32 {
	return max(contrast, 384+int32(noise)*4)
}

// Classify flags each cell of now that differs from before (under the exposure e) or from the
// background by more than its threshold.
func Classify(now, before []uint16, e Exposure, background, noise []uint16, contrast int32, flags []byte) {
	n, done := len(now), 0
	before, background, noise, flags = before[:n], background[:n], noise[:n], flags[:n]
	if e.wide() && contrast >= 0 && contrast < 1<<16 {
		done = classifyWide(now, before, e.Gain, e.Offset, background, noise, contrast, flags)
	}
	classifyPlain(now[done:], before[done:], e, background[done:], noise[done:], contrast, flags[done:])
}

// classifyPlain is the reference of Classify.
func classifyPlain(now, before []uint16, e Exposure, background, noise []uint16, contrast int32, flags []byte) {
	n := len(now)
	before, background, noise, flags = before[:n], background[:n], noise[:n], flags[:n]
	for i, v := range now {
		limit := Threshold(contrast, noise[i])
		var f byte
		if Abs(int32(v)-e.Apply(before[i])) > limit {
			f |= Moved
		}
		if Abs(int32(v)-int32(background[i])) > limit {
			f |= Fore
		}
		flags[i] = f
	}
}
