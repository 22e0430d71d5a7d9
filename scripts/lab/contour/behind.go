package contour

// Of a marked area, a part may be what was left behind, while the rest is what leaves. The part is
// found from its border: where the background has an edge and the picture has none, what is outside
// goes on inside; it is followed as far as the picture shows no edge, which is where the thing
// itself begins.
const (
	behindVote  = 10  // grey levels of edge that the background has more, or less, than the picture, to tell
	behindLevel = 9   // grey levels by which a pixel may differ from those that lead to it
	behindBorns = 6   // pixels of border that tell so, at least
	behindTimes = 3   // times as many as those that tell otherwise
	behindShare = 0.4 // of the border of such a part, that must tell so
	behindLeast = 12  // pixels of it
	// times its pixels, that the square of those at the border must be that tell so: of a square,
	// all of one side
	behindRound  = 2
	behindMean   = 8   // grey levels, at least, by which the background's inside differs from its outside on the mean
	behindProven = 5   // part of it, at most, that was seen as background again after it had been hidden
	seemsProven  = 255 // what seems is for such a pixel
	behindAgain  = 5   // pictures in which that is so, one after another
)

// What is known of a marked pixel while behind looks.
const (
	behindFree  = 1 << iota // lies at the border of the marks
	behindLeft              // there the background has an edge that the picture lacks
	behindThing             // there the picture has one that the background lacks
	behindSeen              // was followed
)

// behind takes what was left behind out of the part in the queue, and makes background of it.
func (c *Contour) behind(p Picture) {
	left := 0
	for _, i := range c.queue {
		v, _, _ := c.border(p, int(i))
		c.lines[i] = v
		if v&behindLeft != 0 {
			left++
		}
	}
	if left < behindBorns {
		return
	}
	reach := int16(behindLevel + 2*c.sigma)
	for _, i := range c.queue {
		if c.lines[i]&(behindLeft|behindSeen) == behindLeft {
			c.follow(p, i, reach)
		}
	}
}

// border tells what a marked pixel says as one of the border, and by how many grey levels the
// picture and the background get brighter there to the outside, if it is one.
func (c *Contour) border(p Picture, i int) (told byte, inPicture, inBackground int) {
	x, y := i%c.width, i/c.width
	picture, background := 0, 0
	for _, to := range [4][2]int{{-1, 0}, {1, 0}, {0, -1}, {0, 1}} {
		free, known, a, b := c.step(p, x, y, to)
		if free {
			told = behindFree
		}
		if !known {
			continue
		}
		picture, background = max(picture, a, -a), max(background, b, -b)
		inPicture, inBackground = inPicture+a, inBackground+b
	}
	switch {
	case background > picture+behindVote && picture < behindVote:
		told |= behindLeft
	case picture > background+behindVote:
		told |= behindThing
	}
	return told, inPicture, inBackground
}

// follow goes from a pixel at the border as far as the picture shows no edge, and forgets what that
// is if its border tells that it was left behind.
func (c *Contour) follow(p Picture, first int32, reach int16) {
	w := c.width
	luma := func(i int32) int16 { return int16(p.Luma[int(i)/w*p.Stride+int(i)%w]) }
	c.trail = append(c.trail[:0], first)
	c.lines[first] |= behindSeen
	c.rows[first] = luma(first) << 4 // what leads to it, 1/16 grey levels
	border, left, thing, inPicture, inBackground := 0, 0, 0, 0, 0
	for at := 0; at < len(c.trail); at++ {
		i := c.trail[at]
		v := c.lines[i]
		if v&behindFree != 0 {
			border++
			_, a, b := c.border(p, int(i))
			inPicture, inBackground = inPicture+a, inBackground+b
		}
		if v&behindLeft != 0 {
			left++
		}
		if v&behindThing != 0 {
			thing++
		}
		level := c.rows[i]
		x, y := int(i)%w, int(i)/w
		look := func(j int32) {
			if c.marks[j] == 0 || c.lines[j]&behindSeen != 0 {
				return
			}
			l := luma(j)
			if d := l<<4 - level; d > reach<<4 || d < -reach<<4 {
				return
			}
			if d := l - int16(c.before[j]); d > changeLevels || d < -changeLevels {
				return
			}
			c.lines[j] |= behindSeen
			c.rows[j] = level + (l<<4-level)>>2
			c.trail = append(c.trail, j)
		}
		if x > 0 {
			look(i - 1)
		}
		if x+1 < w {
			look(i + 1)
		}
		if y > 0 {
			look(i - int32(w))
		}
		if y+1 < c.height {
			look(i + int32(w))
		}
	}
	if len(c.trail) < behindLeast || left < behindBorns || left < behindTimes*thing ||
		float64(left) < behindShare*float64(border) || left*left < behindRound*len(c.trail) {
		return
	}
	inPicture, inBackground = max(inPicture, -inPicture), max(inBackground, -inBackground)
	if inBackground < behindMean*border || inPicture*behindTimes > inBackground {
		return
	}
	n, proven := 0, 0
	for _, j := range c.trail {
		if c.seems[j] == seemsProven {
			proven++
		}
	}
	if behindProven*proven > len(c.trail) {
		return
	}
	for _, j := range c.trail {
		if c.seems[j] == seemsProven {
			c.seems[j] = 0
		}
		if c.seems[j] += 2; c.seems[j] > behindAgain {
			c.seems[j] = 0
			c.trail[n] = j
			n++
		}
	}
	c.forget(p, c.trail[:n])
}
