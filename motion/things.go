package motion

import (
	"cmp"
	"slices"

	"vmsbridge/motion/area"
)

// maxThings bounds what Things tells of one picture.
const maxThings = 48

// Thing is one connected area of a picture that differs from the background. Two people side by
// side may be one Thing, and one person behind a pole two.
type Thing struct {
	Box   Box
	Share float64 // of the picture's cells, 0..1
	// Track is the number of the confirmed track that the area belongs to, 0 without: see
	// Change.Object. Several Things may have the same.
	Track int
}

// things is what Detector.Things works with.
type things struct {
	finder area.Apart
	mask   []byte
}

// Things appends to dst what stands out of the newest picture that Step looked at, the largest 48
// at most, and returns it. Unlike Activity it shows also who stands still, until that is
// background, and nothing of where a thing was a moment ago; nothing at all while the scene is new
// or changes as a whole. It is for those who follow things one by one, and costs only where it is
// called.
func (d *Detector) Things(dst []Thing) []Thing {
	whole := &d.spans[0]
	d = d.sight()
	if d.pictures == 0 || d.learning() || d.upset {
		return dst
	}
	n := d.grid.cells()
	if len(d.apart.mask) != n {
		d.apart.mask = make([]byte, n)
	}
	for i := range d.apart.mask {
		d.apart.mask[i] = d.solid[i] & (d.flags[i] & cellFore / cellFore)
	}
	least, first := max(3, d.minCells(whole.share)/2), len(dst)
	w, h, side := float64(d.grid.pictureWidth), float64(d.grid.pictureHeight), float64(d.grid.side)
	for _, b := range d.apart.finder.Find(d.apart.mask, d.grid.width) {
		if b.Cells < least {
			continue
		}
		r := d.sheer(b.Rect)
		t := Thing{Share: float64(b.Cells) / float64(n), Box: Box{
			Left: float64(r.Left) * side / w, Top: float64(r.Top) * side / h,
			Right: min(1, float64(r.Right)*side/w), Bottom: min(1, float64(r.Bottom)*side/h)}}
		if j := d.objectOf(b.X, b.Y); j >= 0 {
			o := &d.objects[j]
			if o.Light && o.Gone == 0 {
				continue
			}
			if k := o.Track; k >= 0 && d.tracks.Tracks[k].Live &&
				(d.spans == nil || d.counts(whole, o, &d.tracks.Tracks[k])) {
				t.Track = d.tracks.Tracks[k].ID
			}
		}
		dst = append(dst, t)
	}
	if seen := dst[first:]; len(seen) > maxThings {
		slices.SortFunc(seen, func(a, b Thing) int { return cmp.Compare(b.Share, a.Share) })
		dst = dst[:first+maxThings]
	}
	return dst
}

// objectOf is the object of the newest picture that a cell belongs to, -1 without.
func (d *Detector) objectOf(x, y int) int {
	if len(d.objects) == 0 { // and nothing was labelled
		return -1
	}
	return d.finder.Of(x, y)
}

// sheer is the box of a thing without the rows and columns at its sides in which nothing differs by
// a third of the thing's contrast: its shadow, and its reflection in a floor, which differ by a
// sixth to a quarter of it. They are half of its height or width at most on each side.
func (d *Detector) sheer(r area.Rect) area.Rect {
	const partly, most = 3, 2
	now, background, mask, width := d.history.newest(), d.model.background, d.apart.mask, d.grid.width
	weight, square := 0.0, 0.0
	for y := r.Top; y < r.Bottom; y++ {
		for i := y*width + r.Left; i < y*width+r.Right; i++ {
			if mask[i] != 0 {
				v := float64(abs32(int32(now[i]) - int32(background[i])))
				weight, square = weight+v, square+v*v
			}
		}
	}
	least := int32(square / max(1, weight) / partly)
	thing := func(x0, y0, x1, y1 int) bool {
		for y := y0; y < y1; y++ {
			for i := y*width + x0; i < y*width+x1; i++ {
				if mask[i] != 0 && abs32(int32(now[i])-int32(background[i])) >= least {
					return true
				}
			}
		}
		return false
	}
	in, high, wide := r, (r.Bottom-r.Top)/most, (r.Right-r.Left)/most
	for r.Bottom-in.Bottom < high && !thing(in.Left, in.Bottom-1, in.Right, in.Bottom) {
		in.Bottom--
	}
	for in.Top-r.Top < high && !thing(in.Left, in.Top, in.Right, in.Top+1) {
		in.Top++
	}
	for in.Left-r.Left < wide && !thing(in.Left, in.Top, in.Left+1, in.Bottom) {
		in.Left++
	}
	for r.Right-in.Right < wide && !thing(in.Right-1, in.Top, in.Right, in.Bottom) {
		in.Right--
	}
	return in
}
