package motion

import "vmsbridge/motion/plane"

// unlitFor is for how many seconds it is known what a place was before the light on it. Headlights
// pass in less.
const unlitFor = 10

// unlit remembers what the background was before a light fell on it. While the light is there the
// background follows it, so that who walks in it is seen; when it is gone the place is at once what
// it was, and no ghost of the light stays.
type unlit struct {
	background []uint16
	left       []uint8 // for how many seconds more it is known; 0 is not
	any        bool    // of some cell
	sweep      int     // ms until the next second of left
}

func (u *unlit) resize(cells int) {
	*u = unlit{background: make([]uint16, cells), left: make([]uint8, cells), sweep: 1000}
}

// clear forgets everything.
func (u *unlit) clear() {
	clear(u.left)
	u.any = false
}

// keep remembers a cell on which a light falls.
func (u *unlit) keep(i int, background uint16) {
	if u.left[i] == 0 {
		u.background[i] = background
	}
	u.left[i], u.any = unlitFor, true
}

// knows tells whether it is known what a cell was before a light fell on it.
func (u *unlit) knows(i int) bool { return u.left[i] != 0 }

// expose moves what is known into a new exposure.
func (u *unlit) expose(e plane.Exposure) {
	if u.any {
		plane.Expose(u.background, e)
	}
}

// restore takes cells that look as before their light for the background that they were; doubt is
// the noise that thresholds are made of. That the light left is no motion either.
func (u *unlit) restore(m *model, doubt, now []uint16, flags []byte, contrast int32) {
	if !u.any {
		return
	}
	u.any = false
	for i, left := range u.left {
		if left == 0 {
			continue
		}
		u.any = true
		v := int32(now[i])
		off := abs32(v - int32(u.background[i]))
		if off > threshold(contrast, doubt[i]) {
			continue
		}
		if off < abs32(v-int32(m.background[i])) {
			m.background[i] = u.background[i]
		}
		flags[i] = 0
	}
}

// pass lets ms milliseconds go by.
func (u *unlit) pass(ms int) {
	if !u.any {
		return
	}
	for u.sweep -= ms; u.sweep <= 0; u.sweep += 1000 {
		plane.CountDown(u.left)
	}
}
