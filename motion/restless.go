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
	for i := 0; i < len(flags); i++ {
		// Mostly nothing moves and nothing is remembered: eight cells at a time.
		for i+8 <= len(flags) && binary.LittleEndian.Uint64(memory[i:])|binary.LittleEndian.Uint64(flags[i:])&(0x0101010101010101*cellMoved) == 0 {
			i += 8
		}
		if i == len(flags) {
			return
		}
		if flags[i]&cellMoved == 0 {
			memory[i] -= min(memory[i], uint8(down))
		} else if !d.passes(from + i) {
			memory[i] = uint8(min(255, int(memory[i])+up))
		}
	}
}

// passes tells whether the cell is of something that is on its way.
func (d *Detector) passes(i int) bool {
	if len(d.objects) == 0 || d.solid[i] == 0 {
		return false
	}
	j := d.labels.of(i%d.grid.width, i/d.grid.width)
	if j < 0 || d.objects[j].track < 0 {
		return false
	}
	k := &d.tracks.tracks[d.objects[j].track]
	return k.live && k.left && d.at-k.anchorAt < dwellsAfter
}
