package plane

// GainOne is a gain of 1 in the fixed point of Exposure.
const GainOne = 1 << 12

// Exposure is how the brightness of cells changed: y = Gain/4096·x + Offset, in 1/256 grey levels.
// Gain is not negative. Auto-exposure, a cloud and a light switch are such a change of the whole
// scene to the first order.
type Exposure struct{ Gain, Offset int32 }

// Same is the exposure that changes nothing.
var Same = Exposure{Gain: GainOne}

// Apply is x under the exposure, within 0..65535.
func (e Exposure) Apply(x uint16) int32 {
	return max(0, min(65535, (int32(uint64(x)*uint64(e.Gain)>>12))+e.Offset))
}

// Shift is how much the exposure changes a value at most, in 1/256 grey levels, looked at in the
// dark, the middle and the bright.
func (e Exposure) Shift() int32 {
	most := int32(0)
	for _, x := range [...]uint16{16 << 8, 128 << 8, 240 << 8} {
		most = max(most, Abs(e.Apply(x)-int32(x)))
	}
	return most
}

// wide tells whether e is within what the vector loops compute without overflow.
func (e Exposure) wide() bool {
	return e.Gain >= 0 && e.Gain < 1<<16 && e.Offset > -1<<24 && e.Offset < 1<<24
}

// Expose moves cells into another exposure.
func Expose(cells []uint16, e Exposure) {
	done := 0
	if e.wide() {
		done = exposeWide(cells, e.Gain, e.Offset)
	}
	exposePlain(cells[done:], e)
}

// exposePlain is the reference of Expose.
func exposePlain(cells []uint16, e Exposure) {
	for i, v := range cells {
		cells[i] = uint16(e.Apply(v))
	}
}

// Abs is the absolute value of v.
func Abs(v int32) int32 {
	s := v >> 31
	return (v ^ s) - s
}
