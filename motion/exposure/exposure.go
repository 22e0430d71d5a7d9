package exposure

import "vmsbridge/motion/plane"

// gainOne is a gain of 1 in the fixed point of exposure.
const gainOne = plane.GainOne

// Exposure is how the brightness of the whole scene changed between two pictures: y = Gain/4096·x + Offset, in 1/256 grey levels.
// Auto-exposure, a cloud and a light switch are such a change to the first order; what does not fit is looked at by structure.go.
type Exposure plane.Exposure

// Same is the exposure that changes nothing.
var Same = Exposure{Gain: gainOne}

// apply is x under the exposure, within 0..65535.
func (e Exposure) apply(x uint16) int32 { return plane.Exposure(e).Apply(x) }

// Shift is how much the exposure changes a value at most, in 1/256 grey levels, looked at in the dark, the middle and the bright.
func (e Exposure) Shift() int32 {
	most := int32(0)
	for _, x := range [...]uint16{16 << 8, 128 << 8, 240 << 8} {
		most = max(most, plane.Abs(e.apply(x)-int32(x)))
	}
	return most
}
