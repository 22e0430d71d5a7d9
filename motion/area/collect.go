package area

import (
	"math/bits"

	"vmsbridge/motion/plane"
)

// Collect measures the labelled areas, and keeps those in which at least minMoved cells moved or
// crept. Mostly all areas are measured, and that is known then.
func (l *Finder) Collect(v *plane.Views, minMoved int) []Area {
	l.areas = l.areas[:0]
	number := l.number[:len(l.parent)]
	number[0] = -1
	fits := l.place(number)
	if !fits {
		l.choose(number, l.counts[:len(l.parent)], v, minMoved)
	}
	for i := 1; i < len(number); i++ {
		number[i] = number[l.root(uint16(i))]
	}
	if len(l.areas) > 0 {
		l.measure(v)
	}
	if fits {
		l.drop(number, minMoved)
	}
	if len(l.areas) == 0 {
		return nil
	}
	return l.areas
}

// place gives each area a place among the areas, by its root label, if there are not too many for
// that.
func (l *Finder) place(number []int16) (fits bool) {
	for i := 1; i < len(number); i++ {
		if l.parent[i] != uint16(i) {
			continue
		}
		at := len(l.areas)
		if at == Most {
			l.areas = l.areas[:0]
			return false
		}
		l.areas = l.areas[:at+1]
		l.areas[at] = Area{Track: -1}
		number[i] = int16(at)
	}
	return true
}

// choose gives places among the areas to the areas in which most moved or crept, by their root
// labels: the many small areas of a noisy picture need none.
func (l *Finder) choose(number []int16, counts []int32, v *plane.Views, minMoved int) {
	clear(counts)
	l.count(v, counts)
	for i := range number {
		number[i] = -1
		if int(counts[i]) < minMoved || l.parent[i] != uint16(i) || i == 0 {
			continue
		}
		at := len(l.areas)
		if at == Most { // the smallest makes room, if it is smaller
			at = 0
			for k := range l.areas {
				if l.areas[k].Cells < l.areas[at].Cells {
					at = k
				}
			}
			if l.areas[at].Cells >= int(counts[i]) {
				continue
			}
			for k := range i {
				if number[k] == int16(at) {
					number[k] = -1
				}
			}
		} else {
			l.areas = l.areas[:at+1]
		}
		l.areas[at] = Area{Cells: int(counts[i]), Track: -1}
		number[i] = int16(at)
	}
}

// drop gives up the areas in which too little moved or crept.
func (l *Finder) drop(number []int16, minMoved int) {
	var places [Most]int16
	kept := 0
	for k := range l.areas {
		if places[k] = -1; l.stirring(k) < minMoved {
			continue
		}
		places[k] = int16(kept)
		if kept < k {
			l.areas[kept] = l.areas[k]
		}
		kept++
	}
	if kept == len(l.areas) {
		return
	}
	l.areas = l.areas[:kept]
	for i, k := range number {
		if k >= 0 {
			number[i] = places[k]
		}
	}
}

// stirring is how many cells of a measured area moved or crept.
func (l *Finder) stirring(k int) int {
	n := plane.Count(&l.sums[k][0].Stirs)
	if l.there[k] {
		n += plane.Count(&l.sums[k][1].Stirs)
	}
	return n
}

// count adds to counts, for each root label, the cells that moved, or began to differ from the
// background lately.
func (l *Finder) count(v *plane.Views, counts []int32) {
	first, end := 2*l.from*v.Width, min(2*l.to, v.Height)*v.Width
	if first >= end {
		return
	}
	plane.Stirs(v.Flags[first:end], v.Solid[first:end], v.Parked[first:end], v.Stay[first:end], v.Young,
		l.stirs[:(end-first+63)/64])
	stirs := l.stirs
	for _, r := range l.runs {
		from := 2*int(r.Y)*v.Width - first + 2*int(r.From)
		to := from + min(2*int(r.To), v.Width) - 2*int(r.From)
		n := 0
		for rows := min(2, v.Height-2*int(r.Y)); rows > 0; rows-- {
			if at := from >> 6; to <= 64*at+64 { // mostly
				n += bits.OnesCount64(stirs[at] >> (from & 63) << ((from + 64 - to) & 63))
			} else {
				n += ones(stirs, from, to)
			}
			from, to = from+v.Width, to+v.Width
		}
		if n > 0 {
			counts[l.root(r.label)] += int32(n)
		}
	}
}

// ones counts the bits from..to, which are of more than one word.
func ones(set []uint64, from, to int) int {
	first, last := from/64, (to-1)/64
	a, b := ^uint64(0)<<(from%64), ^uint64(0)>>(63-(to-1)%64)
	n := bits.OnesCount64(set[first]&a) + bits.OnesCount64(set[last]&b)
	for _, w := range set[first+1 : last] {
		n += bits.OnesCount64(w)
	}
	return n
}
