package motion

import "vmsbridge/motion/plane"

// resize prepares for pictures of another size.
func (d *Detector) resize(width, height int) {
	g := newGrid(width, height)
	n := g.cells()
	d.grid = g
	d.snowfall.resize()
	d.smooth.resize(g.width, g.height)
	d.model.resize(n)
	d.doubt = d.model.noise
	d.habit.resize(n)
	d.unlit.resize(n)
	d.ghosts.resize(n)
	d.despeckle.Resize(g.width, g.height)
	d.finder.Resize(g.width, g.height)
	d.silhouette.resize(n)
	d.objects = nil
	d.flags, d.solid, d.held, d.scratch = make([]byte, n), make([]byte, n), make([]byte, n), make([]byte, n)
	_, blocks := plane.Blocks(g.width, g.height)
	d.blocks, d.square = make([]plane.Block, blocks), make([]plane.Block, 0, blocks)
	d.spots = make([]spot, 0, blocks*blockSide/2)
	d.unsure = make([]int32, 0, n/(blockSide*blockSide)+g.width+g.height)
	d.beamed = make([]int32, 0, n/(blockSide*blockSide)+g.width+g.height)
	d.mask = make([]byte, n)
	d.inRegion = nil
	if len(d.config.Regions) > 0 {
		d.inRegion = make([]uint64, n)
	}
	for i := range d.mask {
		x := (float64(i%g.width) + 0.5) * float64(g.side) / float64(width)
		y := (float64(i/g.width) + 0.5) * float64(g.side) / float64(height)
		d.mask[i] = 255
		for _, m := range d.config.Masks {
			if m.contains(x, y) {
				d.mask[i] = 0
			}
		}
		for k, r := range d.config.Regions {
			if r.Area.contains(x, y) {
				d.inRegion[i] |= 1 << k
			}
		}
	}
	d.light.Choose(d.mask)
	d.history.resize(n, &d.light)
	d.bands.Resize(g.width, g.height, d.light.At)
	d.steady.Resize(g.width, g.height, d.light.At)
	d.tracks.Resize(g.width, g.height)
	d.pictures = 0
}
