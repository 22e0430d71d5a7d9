package motion

import (
	"encoding/binary"
	"math/bits"
	"time"
)

const (
	scatterSide   = 16                     // cells, of the squares that are counted
	scatterShare  = 0.35                   // of the squares, in which something must change
	scatterFull   = 0.35                   // of the cells of these squares, that change at most
	compactShare  = 0.25                   // of its box, that a thing fills at least to be told from what is scattered
	fillsPicture  = 0.5                    // of the picture: nothing that is so large begins to move at once
	strangeShare  = 0.35                   // of the picture, that differs from the background though it is still: it is another scene
	strangeMoves  = 0.1                    // of the picture, that moves at most then
	strangeAbsorb = 500                    // ms without change after which that becomes the background
	calmShare     = 0.35                   // of the squares, in which something moves at most while nothing unusual goes on
	quietShare    = 0.42                   // of the squares, in which something moves at most when it is over: who walks there meanwhile may be large
	jumpShare     = 0.6                    // of the squares, in which something moves at once when the scene changes as a whole
	restShare     = 0.05                   // of the picture, that is unlike the background afterwards
	jumpWithin    = 300 * time.Millisecond // from calm to that
	upheavalLasts = 3 * time.Second        // for which nothing can be told, at most
	settles       = 6 * time.Second        // for which the exposure may take to settle after that
	freshLearns   = time.Second            // for which the noise is learned as at the start
)

// scattered tells whether little changes in many places all over the picture, as when the focus hunts, the camera shakes or snow falls. Solid holds 0 and 1.
func scattered(solid []byte, width, height int) bool {
	squares, busy, cells := 0, 0, 0
	for y0 := 0; y0 < height; y0 += scatterSide {
		for x0 := 0; x0 < width; x0 += scatterSide {
			n := 0
			x1 := min(x0+scatterSide, width)
			for y := y0; y < min(y0+scatterSide, height); y++ {
				row := solid[y*width+x0 : y*width+x1]
				for ; len(row) >= 8; row = row[8:] {
					n += bits.OnesCount64(binary.LittleEndian.Uint64(row))
				}
				for _, v := range row {
					n += int(v)
				}
			}
			squares++
			if n >= speckles {
				busy++
				cells += n
			}
		}
	}
	return float64(busy) >= scatterShare*float64(squares) && float64(cells) < scatterFull*scatterSide*scatterSide*float64(busy)
}

// speckles is how many cells of a square must change to be counted.
const speckles = 4

// strange tells whether most of the picture is not what it was, but still: the light changed in a way that nothing here understands, or somebody turned the camera.
func (d *Detector) strange(fore, moved float64) bool {
	return fore >= strangeShare && moved < strangeMoves
}

// upheaval looks for changes of the whole picture that no exposure explains, such as an infrared cut: something moves nearly everywhere, at once. While that
// lasts nothing can be told; when it is over, what is still is the background of another scene. It tells whether it lasts. fore and moved are shares of the picture.
func (d *Detector) upheaval(solid int, fore, moved float64, now []uint16) bool {
	busy := 0.0
	if solid > d.grid.cells()/20 {
		busy = d.busy()
	}
	if busy <= calmShare {
		d.calmAt = d.at
	} else if busy >= jumpShare && d.at-d.calmAt <= jumpWithin && d.jumpedAt == 0 {
		d.jumpedAt = d.at
	}
	if d.jumpedAt == 0 {
		return false
	}
	past := d.at - d.jumpedAt
	switch {
	case past > settles:
		d.jumpedAt = 0
	case past > jumpWithin && (moved < strangeMoves || busy <= quietShare):
		d.jumpedAt = 0
		if fore >= restShare {
			d.begin(now)
		}
	}
	return d.jumpedAt != 0 && past < upheavalLasts && busy > calmShare
}

// busy is the share of the picture's squares in which something moves.
func (d *Detector) busy() float64 {
	g, squares, busy := d.grid, 0, 0
	for y0 := 0; y0 < g.height; y0 += scatterSide {
		for x0 := 0; x0 < g.width; x0 += scatterSide {
			n := 0
			x1 := min(x0+scatterSide, g.width)
			for y := y0; y < min(y0+scatterSide, g.height); y++ {
				row, flags := d.solid[y*g.width+x0:y*g.width+x1], d.flags[y*g.width+x0:y*g.width+x1]
				for i, v := range row {
					n += int(v & (flags[i] / cellMoved))
				}
			}
			squares++
			if n >= 2*speckles {
				busy++
			}
		}
	}
	return float64(busy) / float64(squares)
}

// shares are how much of the picture differs from the background and from a moment ago.
func (d *Detector) shares() (fore, moved float64) {
	f, m := 0, 0
	for i, v := range d.flags {
		f += int(v & cellFore & d.solid[i])
		m += int(v / cellMoved & 1)
	}
	n := float64(d.grid.cells())
	return float64(f) / n, float64(m) / n
}

// begin takes what is still for the background of a scene that changed as a whole. What moves is looked at against it from now on; of noise and of
// what stood where nothing is known yet.
func (d *Detector) begin(now []uint16) {
	m := &d.model
	for i, f := range d.flags {
		m.stay[i], m.still[i], m.parked[i] = 0, 0, 0
		if f&cellMoved == 0 {
			m.background[i] = now[i]
			d.flags[i], d.solid[i] = 0, 0
		}
	}
	clear(d.habit.memory)
	d.learned = d.at // what stands still is soon taken for background, as at the start
	d.freshFor = freshLearns
}
