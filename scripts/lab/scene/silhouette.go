package scene

import "vmsbridge/scripts/lab/scene/figure"

// What Truth says of a pixel. The levels are those of the ground truth of CDnet 2014 (Y. Wang et
// al., CDnet 2014: an expanded change detection benchmark dataset).
const (
	TruthStill   = 0   // the place, and whatever only disturbs: leaves, rain, shadows
	TruthUnknown = 170 // an edge, of which a pixel shows both, or what has stood there since the loop began
	TruthMoving  = 255 // somebody or something that moves, or that moved and has not left since
)

// Below and above these parts of a pixel that a figure fills, of 65535, it is the place's, or the
// figure's.
const (
	fillsNone = 65535 * 5 / 100
	fillsAll  = 65535 * 95 / 100
)

// Truth draws what picture i shows of those who move, pixel by pixel as the camera sees it: shaken
// and out of focus, if it is. dst is a whole plane in the scene's size. What lies before the lens,
// such as rain, hides nothing; the light of the scene does not matter, so that a figure counts that
// cannot be seen in the dark. It draws on none of what Luma draws on.
func (s *Scene) Truth(i int, dst []byte) {
	number, t := i%s.Len(), s.seconds(i)
	if s.fills == nil {
		s.fills, s.stood = make([]uint16, len(s.pix)), make([]uint16, len(s.pix))
	}
	clear(s.fills)
	clear(s.stood)
	s.arrange(number, t)
	anyStood := false
	for _, a := range s.actors {
		if t < a.from || t >= a.to {
			continue
		}
		target := figure.Target{Width: s.o.Width, Height: s.o.Height, Depth: s.place.Depth, Fills: s.fills}
		if !a.movedBy(t, s.o.Rate) {
			target.Fills, anyStood = s.stood, true
		}
		a.draw(t, &target)
	}
	for k, v := range s.look(&s.frame, s.fills) {
		switch {
		case v > fillsAll:
			dst[k] = TruthMoving
		case v > fillsNone:
			dst[k] = TruthUnknown
		default:
			dst[k] = TruthStill
		}
	}
	if !anyStood {
		return
	}
	for k, v := range s.look(&s.frame, s.stood) {
		if v > fillsNone && dst[k] == TruthStill {
			dst[k] = TruthUnknown
		}
	}
}

// movedBy tells whether the actor has moved at t, or before.
func (a *actor) movedBy(t float64, rate int) bool {
	if a.moves == nil {
		return true
	}
	for at := max(0, a.from); at < t; at += 1 / float64(rate) {
		if a.moves(at) {
			return true
		}
	}
	return a.moves(t)
}
