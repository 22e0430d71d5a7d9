package motion

import (
	"math/bits"
	"time"
)

const (
	ghostEvery = 500 * time.Millisecond
	ghostStill = 1000 // ms without change, after which a place may be a ghost
	ghostCells = 4    // at least
	ghostEdge  = 2    // times as much edge that only the background has as only the picture has

	ghostYoung      = 20 * time.Second // since the scene was learned, in which what was there then may leave
	ghostClearCells = 8                // of a ghost, at least, that is beyond doubt
	ghostClear      = 20               // times as much edge, likewise
)

// ghosts finds places that only look as if something were there: what stood there since the
// detector began, or was taken for background, has left. Around a thing the picture has an edge;
// around a ghost the background has it, and the picture has none. They are left out of the mask,
// and what is beyond doubt becomes background at once: it would hide who passes by.
type ghosts struct {
	next  time.Duration // own time
	seen  []uint8
	queue []int32
}

func (g *ghosts) resize(cells int) {
	*g = ghosts{seen: make([]uint8, cells), queue: make([]int32, 0, cells)}
}

// lay looks for ghosts, twice a second.
func (g *ghosts) lay(d *Detector, now []uint16) {
	if d.at < g.next {
		return
	}
	g.next = d.at + ghostEvery
	clear(g.seen)
	whole := len(d.solid) &^ 31
	for i := 0; i < whole; i += 32 {
		if s := d.solid[i : i+32]; word(s)|word(s[8:])|word(s[16:])|word(s[24:]) == 0 { // mostly there is nothing
			continue
		}
		for k := i; k < i+32; k += 8 {
			v, s := stands(d.solid[k:], d.flags[k:]), d.model.still[k:k+8:k+8]
			if v == 0 || s[0]|s[1]|s[2]|s[3]|s[4]|s[5]|s[6]|s[7] < ghostStill {
				continue
			}
			for ; v != 0; v &= v - 1 {
				g.look(d, now, k+bits.TrailingZeros64(v)/8)
			}
		}
	}
	for i := whole; i < len(d.solid); i++ {
		if d.flags[i]&cellFore != 0 && d.solid[i] != 0 {
			g.look(d, now, i)
		}
	}
}

// look lays the ghost of which a cell is that stands, if there is one that was not seen yet.
func (g *ghosts) look(d *Detector, now []uint16, i int) {
	if d.model.still[i] < ghostStill || g.seen[i] != 0 {
		return
	}
	picture, background, free := g.around(d, now, int32(i))
	if !free || len(g.queue) < ghostCells || float64(background) <= ghostEdge*float64(picture) {
		return
	}
	clear := len(g.queue) >= ghostClearCells && float64(background) > ghostClear*float64(picture) &&
		(d.at < d.learned+ghostYoung || d.parkedMost(g.queue))
	for _, j := range g.queue {
		d.silhouette.moved[j] = 0
		if clear {
			d.model.renew(int(j), now[j])
			d.flags[j] &^= cellFore
			d.looked = false
		}
	}
}

// around visits the place that the cell belongs to, and sums up the edges around it that only the
// picture has, and that only the background has. Free tells that it is no part of something that
// moves. The place is in the queue then.
func (g *ghosts) around(d *Detector, now []uint16, first int32) (picture, background int64, free bool) {
	const reach = 2
	w, h := int32(d.grid.width), int32(d.grid.height)
	m := &d.model
	g.queue = append(g.queue[:0], first)
	g.seen[first] = 1
	moving, sides := 0, 0
	for at := 0; at < len(g.queue); at++ {
		i := g.queue[at]
		x, y := i%w, i/w
		for _, step := range [4][2]int32{{-1, 0}, {1, 0}, {0, -1}, {0, 1}} {
			if u, v := x+step[0], y+step[1]; u >= 0 && u < w && v >= 0 && v < h {
				if j := v*w + u; g.seen[j] == 0 && m.still[j] >= ghostStill && d.flags[j]&cellFore != 0 &&
					d.solid[j] != 0 {
					g.seen[j] = 1
					g.queue = append(g.queue, j)
				}
			}
			u, v := x+reach*step[0], y+reach*step[1]
			if u < 0 || u >= w || v < 0 || v >= h {
				continue
			}
			j := v*w + u
			sides++
			switch {
			case d.flags[j]&cellFore == 0 && d.mask[j] != 0:
				more := abs32(int32(m.background[i])-int32(m.background[j])) - abs32(int32(now[i])-int32(now[j]))
				picture += int64(max(0, -more))
				background += int64(max(0, more))
			case m.still[j] < ghostStill:
				moving++
			}
		}
	}
	return picture, background, moving*6 < sides
}

// parkedMost tells whether most of the cells are the place of something that became background.
func (d *Detector) parkedMost(cells []int32) bool {
	n := 0
	for _, i := range cells {
		if d.model.parked[i] > parkedFor {
			n++
		}
	}
	return 2*n > len(cells)
}
