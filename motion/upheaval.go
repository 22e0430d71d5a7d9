package motion

import (
	"time"

	"vmsbridge/motion/plane"
)

const (
	fillsPicture = 0.5 // of the picture: nothing that is so large begins to move at once
	// of the picture, that differs from the background though it is still: it is another scene
	strangeShare  = 0.35
	strangeMoves  = 0.1 // of the picture, that moves at most then
	strangeAbsorb = 500 // ms without change after which that becomes the background
	// of the squares, in which something moves at most while nothing unusual goes on
	calmShare = 0.35
	// of the squares, in which something moves at most when it is over: who walks there meanwhile
	// may be large
	quietShare = 0.42
	// of the squares, in which something moves at once when the scene changes as a whole
	jumpShare     = 0.6
	restShare     = 0.05                   // of the picture, that is unlike the background afterwards
	jumpWithin    = 300 * time.Millisecond // from calm to that
	upheavalLasts = 3 * time.Second        // for which nothing can be told, at most
	settles       = 6 * time.Second        // for which the exposure may take to settle after that
	freshLearns   = time.Second            // for which the noise is learned as at the start
)

// strange tells whether most of the picture is not what it was, but still: the light changed in a
// way that nothing here understands, or somebody turned the camera.
func (d *Detector) strange(fore, moved float64) bool {
	return fore >= strangeShare && moved < strangeMoves
}

// upheaval looks for changes of the whole picture that no exposure explains, such as an infrared
// cut: something moves nearly everywhere, at once. While that lasts nothing can be told; when it is
// over, what is still is the background of another scene. It tells whether it lasts. fore and moved
// are shares of the picture.
func (d *Detector) upheaval(solid int, fore, moved float64, now []uint16) bool {
	busy := 0.0
	if solid > d.grid.cells()/20 {
		busy = busyShare(d.square)
	}
	if busy <= calmShare {
		d.calmAt = d.at
	} else if busy >= jumpShare && d.at-d.calmAt <= jumpWithin && d.jumpedAt == 0 &&
		!d.tracks.Looming(d.at) {
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

// busyShare is the share of the picture's squares in which something moves.
func busyShare(squares []plane.Block) float64 {
	busy := 0
	for _, s := range squares {
		if s.Moves() >= 2*speckles {
			busy++
		}
	}
	return float64(busy) / float64(len(squares))
}

// begin takes what is still for the background of a scene that changed as a whole. What moves is
// looked at against it from now on; of noise and of what stood where nothing is known yet.
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
	d.unlit.clear()
	d.learned = d.at // what stands still is soon taken for background, as at the start
	d.freshFor = freshLearns
}
