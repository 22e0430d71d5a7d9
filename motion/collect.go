package motion

import (
	"math/bits"

	"vmsbridge/motion/plane"
)

// collect measures the labelled areas, and keeps those in which at least minMoved cells moved or crept. Mostly all areas are measured, and that is known then.
func (l *labeler) collect(d *Detector, v *plane.Views, minMoved int) []object {
	l.objects = l.objects[:0]
	number := l.number[:len(l.parent)]
	number[0] = -1
	fits := l.place(number)
	if !fits {
		l.choose(number, d.counts[:len(l.parent)], v, minMoved)
	}
	for i := 1; i < len(number); i++ {
		number[i] = number[l.root(uint16(i))]
	}
	if len(l.objects) > 0 {
		l.measure(v)
	}
	if fits {
		l.drop(number, minMoved)
	}
	if len(l.objects) == 0 {
		return nil
	}
	return l.objects
}

// place gives each area a place among the objects, by its root label, if there are not too many for that.
func (l *labeler) place(number []int16) (fits bool) {
	for i := 1; i < len(number); i++ {
		if l.parent[i] != uint16(i) {
			continue
		}
		at := len(l.objects)
		if at == maxObjects {
			l.objects = l.objects[:0]
			return false
		}
		l.objects = l.objects[:at+1]
		l.objects[at] = object{track: -1}
		number[i] = int16(at)
	}
	return true
}

// choose gives places among the objects to the areas in which most moved or crept, by their root labels: the many small areas of a noisy picture need none.
func (l *labeler) choose(number []int16, counts []int32, v *plane.Views, minMoved int) {
	clear(counts)
	l.count(v, counts)
	for i := range number {
		number[i] = -1
		if int(counts[i]) < minMoved || l.parent[i] != uint16(i) || i == 0 {
			continue
		}
		at := len(l.objects)
		if at == maxObjects { // the smallest makes room, if it is smaller
			at = 0
			for k := range l.objects {
				if l.objects[k].cells < l.objects[at].cells {
					at = k
				}
			}
			if l.objects[at].cells >= int(counts[i]) {
				continue
			}
			for k := range i {
				if number[k] == int16(at) {
					number[k] = -1
				}
			}
		} else {
			l.objects = l.objects[:at+1]
		}
		l.objects[at] = object{cells: int(counts[i]), track: -1}
		number[i] = int16(at)
	}
}

// drop gives up the objects in which too little moved or crept.
func (l *labeler) drop(number []int16, minMoved int) {
	var places [maxObjects]int16
	kept := 0
	for k := range l.objects {
		if places[k] = -1; l.stirring(k) < minMoved {
			continue
		}
		places[k] = int16(kept)
		if kept < k {
			l.objects[kept] = l.objects[k]
		}
		kept++
	}
	if kept == len(l.objects) {
		return
	}
	l.objects = l.objects[:kept]
	for i, k := range number {
		if k >= 0 {
			number[i] = places[k]
		}
	}
}

// stirring is how many cells of a measured object moved or crept.
func (l *labeler) stirring(k int) int {
	n := plane.Count(&l.sums[k][0].Stirs)
	if l.there[k] {
		n += plane.Count(&l.sums[k][1].Stirs)
	}
	return n
}

// count adds to counts, for each root label, the cells that moved, or began to differ from the background lately.
func (l *labeler) count(v *plane.Views, counts []int32) {
	first, end := 2*l.from*v.Width, min(2*l.to, v.Height)*v.Width
	if first >= end {
		return
	}
	plane.Stirs(v.Flags[first:end], v.Solid[first:end], v.Parked[first:end], v.Stay[first:end], v.Young, l.stirs[:(end-first+63)/64])
	stirs := l.stirs
	for _, r := range l.runs {
		from := 2*int(r.y)*v.Width - first + 2*int(r.from)
		to := from + min(2*int(r.to), v.Width) - 2*int(r.from)
		n := 0
		for rows := min(2, v.Height-2*int(r.y)); rows > 0; rows-- {
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
