package motion

import (
	"encoding/binary"
	"time"
)

// When the lens hunts for its focus everything that has edges changes at its edges, all over the picture. A blurred picture goes towards the mean of its surroundings everywhere,
// a sharper one away from it; what moves does neither. And a blur makes nothing that is brighter or darker than all that is near.
const (
	focusReach   = 2                      // cells, over which a picture is blurred
	focusCells   = 200                    // cells that differ, from which they tell whether the focus changed
	focusShare   = 0.85                   // of the cells that differ, which must go one way
	focusOther   = 0.4                    // of the cells, at most, that go the other way, too: small things on something plain do both
	focusLasts   = 300 * time.Millisecond // for which a change of the focus goes on unseen
	focusReturns = 3 * time.Second        // within which a lens is back in focus
)

// blurs tells whether the focus is changing: the cells that differ, as solid says, go towards the mean of the background around them, or from the mean of the
// picture around them to where they are. A sample of them tells.
func (d *Detector) blurs(now []uint16) bool {
	const r = focusReach
	w, h, b := d.grid.width, d.grid.height, d.model.background
	all, softer, sharper := 0, 0, 0
	for y := r; y < h-r; y += 2 {
		for i, end := y*w+r, (y+1)*w-r; i < end; i++ {
			for i+8 <= end && stands(d.solid[i:], d.flags[i:]) == 0 { // mostly there is nothing
				i += 8
			}
			if i == end || d.solid[i] == 0 || d.flags[i]&cellFore == 0 {
				continue
			}
			all++
			change := int32(now[i]) - int32(b[i])
			if (int32(b[i-r])+int32(b[i+r])+int32(b[i-r*w])+int32(b[i+r*w])-4*int32(b[i]) > 0) == (change > 0) {
				softer++
			}
			if (int32(now[i-r])+int32(now[i+r])+int32(now[i-r*w])+int32(now[i+r*w])-4*int32(now[i]) > 0) != (change > 0) {
				sharper++
			}
		}
	}
	if 2*all < focusCells {
		return false
	}
	n := float64(all)
	if float64(softer) >= focusShare*n && float64(sharper) <= focusOther*n {
		d.softAt = d.at
		return true
	}
	return d.softAt > 0 && d.at-d.softAt <= focusReturns && float64(sharper) >= focusShare*n && float64(softer) <= focusOther*n
}

// stands has a bit for each of eight cells that is solid and differs from the background.
func stands(solid, flags []byte) uint64 {
	return binary.LittleEndian.Uint64(solid) & binary.LittleEndian.Uint64(flags) & (0x0101010101010101 * cellFore)
}

// refocus takes the flags from the cells that a change of the focus explains: where the picture is within what the background has around, or the background within what the picture has.
// What only moved is where something was, or an edge that goes; it says nothing meanwhile.
func (d *Detector) refocus(now []uint16) {
	w, h, b := d.grid.width, d.grid.height, d.model.background
	for y := range h {
		for x := range w {
			i := y*w + x
			if d.flags[i] == 0 {
				continue
			}
			limit := threshold(d.contrast, d.doubt[i])
			if d.flags[i]&cellFore == 0 || d.solid[i] == 0 || d.within(int32(now[i]), b, x, y, limit) || d.within(int32(b[i]), now, x, y, limit) {
				d.flags[i] = 0
			}
		}
	}
}

// within tells whether v is between what the cells around a place have, but for a limit.
func (d *Detector) within(v int32, cells []uint16, x, y int, limit int32) bool {
	w := d.grid.width
	left, right := max(0, x-focusReach), min(w, x+focusReach+1)
	low, high := int32(1<<16), int32(-1)
	for row := max(0, y-focusReach); row < min(d.grid.height, y+focusReach+1); row++ {
		for _, c := range cells[row*w+left : row*w+right] {
			low, high = min(low, int32(c)), max(high, int32(c))
		}
	}
	return v >= low-limit && v <= high+limit
}
