package plane

// Views are what the cells of a thing are measured in: the pictures, what is known of the cells,
// and what was found. All slices hold Width x Height cells.
type Views struct {
	Now, Before, Blink      []uint16 // the newest picture, and two earlier ones
	Background, Noise, Stay []uint16 // as in Memory
	Parked, Worn            []uint8  // as in Memory, and how much has moved there lately
	Flags, Solid            []byte   // Solid holds only 0 and 1
	Width, Height           int
	Light, BlinkLight       Exposure // what makes Before and Blink comparable
	Contrast                int32    // that was asked for, see Threshold
	// ms that a cell may have differed from the background to count as newly taken; not 0
	Young uint16
}

// Survey is Measure and Trace for n cells of row y and, if the picture has it, as many of the row
// below.
func Survey(v *Views, x, y, n int, s *Sums) {
	measured, traced := 0, 0
	// mostly there are rows around for both
	if hasPairs() && y >= edgeReach && v.within(x+edgeReach, y+1+edgeReach, n) && v.Light.wide() &&
		v.BlinkLight.wide() {
		var solid, moved uint32 // of each row, in 16 bits
		measured, solid, moved = measurePairWide(v, x, y, n, s)
		s.Top, s.Bottom = span(solid, y, s.Top, s.Bottom)
		s.MovedTop, s.MovedBottom = span(moved, y, s.MovedTop, s.MovedBottom)
		if traced = measured; solid != 0 {
			traced = tracePairWide(v, x, y, n, s)
		}
		if measured == n && traced == n {
			return
		}
	}
	for end := min(y+2, v.Height); y < end; y++ {
		Measure(v, x+measured, y, n-measured, s)
		Trace(v, x+traced, y, n-traced, s)
	}
}

// span takes row y and the one below, as far as there is anything in them, into the rows from top
// to bottom.
func span(any uint32, y, top, bottom int) (int, int) {
	if any&0xffff != 0 {
		top, bottom = min(top, y), max(bottom, y)
	}
	if any>>16 != 0 {
		top, bottom = min(top, y+1), max(bottom, y+1)
	}
	return top, bottom
}

// within tells whether vectors may take n cells of row y, and those before it: they read up to
// seven more.
func (v *Views) within(x, y, n int) bool {
	return v.Contrast >= 0 && v.Contrast < 1<<16 && y*v.Width+x+(n+7)&^7 <= len(v.Now)
}

// Measure adds n cells of row y, from x on, to s.
func Measure(v *Views, x, y, n int, s *Sums) {
	done, i := 0, y*v.Width+x
	if cells := len(v.Now); v.Light.wide() && v.BlinkLight.wide() && v.Contrast >= 0 && v.Contrast < 1<<16 &&
		i+(n+7)&^7 <= cells {
		var solid, moved bool
		done, solid, moved = measureWide(v, x, y, n, s)
		if solid {
			s.Top, s.Bottom = min(s.Top, y), max(s.Bottom, y)
		}
		if moved {
			s.MovedTop, s.MovedBottom = min(s.MovedTop, y), max(s.MovedBottom, y)
		}
	}
	if done < n {
		measurePlain(v, x+done, y, n-done, s)
	}
}

// measurePlain is the reference of Measure.
func measurePlain(v *Views, x, y, n int, s *Sums) {
	for end := x + n; x < end; x++ {
		i, k := y*v.Width+x, x&7
		if v.Solid[i] == 0 {
			if v.Parked[i] != 0 {
				s.Cells[k]++
			}
			if v.Parked[i] > ParkedFor {
				s.Gone[k]++
			}
			continue
		}
		s.Cells[k]++
		s.Left[k], s.Right[k], s.Top, s.Bottom = min(s.Left[k], int16(x)), max(s.Right[k], int16(x)), min(s.Top, y),
			max(s.Bottom, y)
		f, now := v.Flags[i], int32(v.Now[i])
		limit, weight := Threshold(v.Contrast, v.Noise[i]), int32(0)
		if f&Fore != 0 {
			s.Fore[k]++
			s.ForeX[k&3] += uint32(x)
			s.ForeY[k&3] += uint32(y)
			weight = Abs(now - int32(v.Background[i]))
			s.ForeWeight[k&3] += uint32(weight)
			s.Brighter[k&3] += uint32(max(0, now-int32(v.Background[i])))
			s.ForeLimit[k&3] += uint32(limit)
			if v.Stay[i] < v.Young && v.Parked[i] == 0 {
				s.Creep[k]++
				s.Stirs[k] += uint16(1 - f/Moved&1)
			}
		}
		if f&Moved != 0 {
			w := Abs(now - v.Light.Apply(v.Before[i]))
			weight = max(weight, w)
			s.Moved[k]++
			s.Stirs[k]++
			s.MovedX[k&3] += uint32(x)
			s.MovedY[k&3] += uint32(y)
			s.MovedWeight[k&3] += uint32(w)
			s.SquareLow[k&3] += uint32(w) * uint32(w) & 0xffff
			s.SquareHigh[k&3] += uint32(w) * uint32(w) >> 16
			s.Limit[k&3] += uint32(limit)
			s.Worn[k&3] += uint32(v.Worn[i])
			s.MovedLeft[k], s.MovedRight[k] = min(s.MovedLeft[k], int16(x)), max(s.MovedRight[k], int16(x))
			s.MovedTop, s.MovedBottom = min(s.MovedTop, y), max(s.MovedBottom, y)
		}
		if w := Abs(now - v.BlinkLight.Apply(v.Blink[i])); w > limit {
			s.Now[k]++
			s.NowWeight[k&3] += uint32(w)
		}
		s.Weight[k&3] += uint32(weight)
	}
}

// edgeReach is how many cells away an edge is looked for.
const edgeReach = 2

// Trace adds the edges of those of n cells of row y, from x on, that are solid and have the flag
// Fore, to s: on each side where the picture has a cell two away, whether that has the flag Fore,
// too (Inner) or not (Ends); whether the picture has an edge there that no light makes of the
// background's (Torn and Sharp of these); and of Inner where the background has an edge (Own), and
// the picture has not (Lost).
//
// Light scales and shifts what is there: of a background's edge it makes a fourth of it to five
// fourths where it takes light away, three fourths to four times as much where it gives some, and
// it turns none round. What is beyond by more than three fourths of the threshold, and two fifths
// of the change, no light makes.
func Trace(v *Views, x, y, n int, s *Sums) {
	done, i := 0, y*v.Width+x
	cells, far := len(v.Now), i+(n+7)&^7
	if i >= edgeReach && far+edgeReach <= cells && (y+edgeReach >= v.Height || far+edgeReach*v.Width <= cells) &&
		v.Contrast >= 0 && v.Contrast < 1<<16 {
		done = traceWide(v, x, y, n, s)
	}
	if done < n {
		tracePlain(v, x+done, y, n-done, s)
	}
}

// tracePlain is the reference of Trace.
func tracePlain(v *Views, x, y, n int, s *Sums) {
	w := v.Width
	for end := x + n; x < end; x++ {
		i, k := y*w+x, x&7
		if v.Flags[i]&Fore == 0 || v.Solid[i] == 0 {
			continue
		}
		was, is, own := int32(v.Background[i]), int32(v.Now[i]), Threshold(v.Contrast, v.Noise[i])
		limit := max(own-own/4, Abs(is-was)*2/5) // a thing ends at once, light fades
		low, high := int32(1), int32(5)
		if is > was {
			low, high = 3, 16
		}
		side := func(j int) {
			before, after := was-int32(v.Background[j]), is-int32(v.Now[j])
			sign := before >> 31
			before, after = (before^sign)-sign, (after^sign)-sign
			steep := uint16(uint32((after-before*low>>2+limit)|(before*high>>2+limit-after)) >> 31)
			inside := uint16(v.Flags[j] & Fore)
			edge := uint16(uint32(own-before)>>31) & inside
			s.Inner[k] += inside
			s.Ends[k] += 1 - inside
			s.Torn[k] += steep & inside
			s.Sharp[k] += steep &^ inside
			s.Own[k] += edge
			s.Lost[k] += edge & uint16(uint32(4*after-before)>>31)
		}
		if x >= edgeReach {
			side(i - edgeReach)
		}
		if x+edgeReach < w {
			side(i + edgeReach)
		}
		if y >= edgeReach {
			side(i - edgeReach*w)
		}
		if y+edgeReach < v.Height {
			side(i + edgeReach*w)
		}
	}
}
