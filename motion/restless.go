package motion

import (
	"encoding/binary"
	"time"
)

// Times of the places in which something always moves.
const (
	restlessAfter = 2500 * time.Millisecond // of motion within a short time, after which a place counts as restless
	restlessFull  = 4 * time.Second         // of motion, that the memory holds at most
	restlessFades = 40 * time.Second        // for which nothing may move until a full memory is empty
	dwellsAfter   = 12 * time.Second        // in one place, after which even a confirmed track makes its place restless
	restlessParts = 4                       // of the cells, one of which is taken at each picture
)

// restlessAt is the memory from which a cell counts as restless.
const restlessAt = uint8(255 * restlessAfter / restlessFull)

// restless remembers for each cell how much has moved there lately that went nowhere: trees, water, flags, the digits of a clock. There the noise may rise as
// high as it likes, also during an event. What passes through on its way teaches nothing.
type restless struct {
	memory []uint8
	passed [restlessParts]time.Duration // since each part of the cells was taken
	turn   int
}

func (r *restless) resize(cells int) { *r = restless{memory: make([]uint8, cells)} }

// learn takes the newest picture, dt after the one before.
func (r *restless) learn(d *Detector, dt time.Duration) {
	for i := range r.passed {
		r.passed[i] += dt
	}
	n := len(r.memory)
	from, to := n*r.turn/restlessParts, n*(r.turn+1)/restlessParts
	ms := int(min(r.passed[r.turn], 2*time.Second).Milliseconds())
	r.passed[r.turn] = 0
	r.turn = (r.turn + 1) % restlessParts
	up := 255 * ms / int(restlessFull.Milliseconds())
	down := max(1, 255*ms/int(restlessFades.Milliseconds()))
	memory, flags := r.memory[from:to], d.flags[from:to]
	passing, w := d.passing(), d.grid.width
	first, next, y := 0, 0, 0 // the row of the last cell that was looked up
	for i := 0; i < len(flags); i++ {
		// Mostly nothing moves and nothing is remembered: eight cells at a time.
		for i+8 <= len(flags) && binary.LittleEndian.Uint64(flags[i:])&(0x0101010101010101*cellMoved) == 0 {
			if v := binary.LittleEndian.Uint64(memory[i:]); v != 0 {
				binary.LittleEndian.PutUint64(memory[i:], fade(v, uint8(down)))
			}
			i += 8
		}
		if i == len(flags) {
			return
		}
		if flags[i]&cellMoved == 0 {
			memory[i] -= min(memory[i], uint8(down))
			continue
		}
		passes := false
		if at := from + i; passing != 0 && d.solid[at] != 0 {
			if at >= next {
				y = at / w
				first = y * w
				next = first + w
			}
			j := d.labels.of(at-first, y)
			passes = j >= 0 && passing>>j&1 != 0
		}
		if !passes {
			memory[i] = uint8(min(255, int(memory[i])+up))
		}
	}
}

// fade takes by, at most 127, from each of eight bytes, as far as there is as much.
func fade(v uint64, by uint8) uint64 {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	left := (v | high) - ones*uint64(by) // no byte borrows from the next; the highest bit is lent to those that do not have it
	enough := (v | left) & high >> 7 * 255
	return left &^ (high &^ v) & enough
}

// passing has a bit for each object of the picture that is of something on its way.
func (d *Detector) passing() (set uint64) {
	for j := range d.objects {
		if d.objects[j].track < 0 {
			continue
		}
		if k := &d.tracks.tracks[d.objects[j].track]; k.live && k.left && d.at-k.anchorAt < dwellsAfter {
			set |= 1 << j
		}
	}
	return set
}
