package track

import "time"

// What is close to the camera, such as a pair of hands at a shelf, fills much of the picture while
// its centre stays where it is: it need not go anywhere. A tree may be as large, but what moves of
// it at a time lies here and there.
const (
	loomCells = 6                      // times what is small, that its largest part has at least: 3 % of the picture
	loomShare = 0.5                    // of its box, that it fills
	loomsSure = 350 * time.Millisecond // of such pictures, that confirm it
	// of a change of the whole picture, within which what is large may be a part of it
	loomsAfter = time.Second
	// of motion of what is as large, after which it explains that something moves in much of the
	// picture
	loomsLong = 150 * time.Millisecond
)

// Looming tells whether something large was moving beyond doubt for some time, up to the last
// picture, and not because the picture as a whole changed: a light comes on in steps.
func (t *Tracker) Looming(at time.Duration) bool {
	if t.change.over != 0 && !t.change.scene && at-t.change.over < loomsAfter {
		return false
	}
	for i := range t.Tracks {
		if k := &t.Tracks[i]; k.strong >= loomsLong && k.size >= loomCells*t.small && at-k.strongAt <= GoneAfter {
			return true
		}
	}
	return false
}

// looms sums up the pictures in which the track is large, closed, and moves beyond doubt.
func (k *Track) looms(l *look, small int, dt time.Duration) {
	box := (l.Box.Right - l.Box.Left) * (l.Box.Bottom - l.Box.Top)
	switch {
	case !l.Strong || k.strong == 0:
		k.loom = 0
	case l.Active && l.largest >= loomCells*small && float64(l.Cells) >= loomShare*float64(box) &&
		l.contrast()*float64(l.Moved) >= boldContrast*float64(l.Limit):
		k.loom += dt
	}
}
