package motion

import (
	"encoding/binary"
	"math/bits"
	"time"

	"vmsbridge/motion/plane"
)

// When the lens hunts for its focus everything that has edges changes at its edges, all over the
// picture. A blurred picture goes towards the mean of its surroundings everywhere, a sharper one
// away from it; what moves does neither. And a blur makes nothing that is brighter or darker than
// all that is near.
const (
	focusReach = 2    // cells, over which a picture is blurred
	focusCells = 200  // cells that differ, from which they tell whether the focus changed
	focusShare = 0.85 // of the cells that differ, which must go one way
	// of the cells, at most, that go the other way, too: small things on something plain do both
	focusOther   = 0.4
	focusLasts   = 300 * time.Millisecond // for which a change of the focus goes on unseen
	focusReturns = 3 * time.Second        // within which a lens is back in focus
)

// spot is eight cells of a row, from a first one on, with a byte for each that is looked at.
type spot struct {
	first int
	cells uint64
}

// blurs tells whether the focus is changing: the cells that differ, as the blocks' counts and solid
// say, go towards the mean of the background around them, or from the mean of the picture around
// them to where they are. Every second row tells. It ends as soon as too many of them went another
// way.
func (d *Detector) blurs(now []uint16) bool {
	n := d.sample()
	if 2*n < focusCells {
		return false
	}
	all, softer, sharper := 0, 0, 0
	cells, soft, sharp := float64(n), true, d.softAt > 0 && d.at-d.softAt <= focusReturns
	for k := 0; k < len(d.spots) && (soft || sharp); k++ {
		s := d.spots[k]
		all += bits.OnesCount64(s.cells)
		for v := s.cells; v != 0; v &= v - 1 {
			a, b := d.towards(now, s.first+bits.TrailingZeros64(v)/8)
			softer, sharper = softer+a, sharper+b
		}
		if k%8 < 7 && k+1 < len(d.spots) {
			continue
		}
		soft = soft && float64(n-all+softer) >= focusShare*cells && float64(sharper) <= focusOther*cells
		sharp = sharp && float64(n-all+sharper) >= focusShare*cells && float64(softer) <= focusOther*cells
	}
	if soft {
		d.softAt = d.at
	}
	return soft || sharp
}

// sample collects the cells of every second row that are solid and differ from the background, as
// far as they have neighbours on all sides, and returns how many they are.
func (d *Detector) sample() (n int) {
	const r = focusReach
	d.spots = d.spots[:0]
	w, h := d.grid.width, d.grid.height
	if w <= 2*r {
		return 0
	}
	across, _ := plane.Blocks(w, h)
	for y0 := 0; y0 < h; y0 += blockSide {
		for k, b := range d.blocks[y0/blockSide*across:][:across] {
			if b.Fore() == 0 {
				continue
			}
			x, inside := k*blockSide, ^uint64(0)
			if x < r {
				inside <<= 8 * (r - x)
			}
			if over := x + blockSide - (w - r); over > 0 {
				inside = inside << (8 * over) >> (8 * over)
			}
			for y := max(r, y0); y < min(y0+blockSide, h-r); y += 2 {
				first := y*w + x
				if v := stands(d.solid[first:], d.flags[first:]) & inside; v != 0 {
					n += bits.OnesCount64(v)
					d.spots = append(d.spots, spot{first, v})
				}
			}
		}
	}
	return n
}

// towards tells whether a cell goes towards the mean of the background around it, and whether it
// goes away from that of the picture: 1 if so, 0 if not.
func (d *Detector) towards(now []uint16, i int) (softer, sharper int) {
	const r = focusReach
	w, b := d.grid.width, d.model.background
	above := func(v int32) int { return int(uint32(-v) >> 31) } // 1 if v is more than 0: which it is cannot be guessed
	up := above(int32(now[i]) - int32(b[i]))
	was := above(int32(b[i-r]) + int32(b[i+r]) + int32(b[i-r*w]) + int32(b[i+r*w]) - 4*int32(b[i]))
	is := above(int32(now[i-r]) + int32(now[i+r]) + int32(now[i-r*w]) + int32(now[i+r*w]) - 4*int32(now[i]))
	return 1 - was ^ up, is ^ up
}

// stands has a bit for each of eight cells that is solid and differs from the background.
func stands(solid, flags []byte) uint64 {
	return word(solid) & word(flags) & (0x0101010101010101 * cellFore)
}

// word is eight cells at once, the first in the lowest bits.
func word(cells []byte) uint64 { return binary.LittleEndian.Uint64(cells) }

// refocus takes the flags from the cells that a change of the focus explains: where the picture is
// within what the background has around, or the background within what the picture has. What only
// moved is where something was, or an edge that goes; it says nothing meanwhile.
func (d *Detector) refocus(now []uint16) {
	w, h, b := d.grid.width, d.grid.height, d.model.background
	for y := range h {
		for x := range w {
			i := y*w + x
			if d.flags[i] == 0 {
				continue
			}
			limit := threshold(d.contrast, d.doubt[i])
			if d.flags[i]&cellFore == 0 || d.solid[i] == 0 || d.within(int32(now[i]), b, x, y, limit) ||
				d.within(int32(b[i]), now, x, y, limit) {
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
