package motion

import "time"

// What is close to the camera, such as a pair of hands at a shelf, fills much of the picture while its centre stays where it is: it need not go anywhere. A tree may be as large, but what
// moves of it at a time lies here and there.
const (
	loomCells = 6                      // times what is small, that its largest part has at least: 3 % of the picture
	loomShare = 0.5                    // of its box, that it fills
	loomsSure = 350 * time.Millisecond // of such pictures, that confirm it
)

// looms sums up the pictures in which the track is large, closed, and moves beyond doubt.
func (k *track) looms(l *look, small int, dt time.Duration) {
	box := (l.box.right - l.box.left) * (l.box.bottom - l.box.top)
	switch {
	case !l.strong || k.strong == 0:
		k.loom = 0
	case l.active && l.largest >= loomCells*small && float64(l.cells) >= loomShare*float64(box) && l.contrast()*float64(l.moved) >= boldContrast*float64(l.limit):
		k.loom += dt
	}
}
