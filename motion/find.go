package motion

import (
	"vmsbridge/motion/area"
	"vmsbridge/motion/plane"
)

// standsAtMost is the part of the picture that a thing takes which stands there: a quarter.
const standsAtMost = 4

// minCells is the least number of cells for a share of the picture.
func (d *Detector) minCells(share float64) int {
	return max(3, int(share*float64(d.grid.cells())+0.5))
}

// leastMoved is minCells for what is looked for.
func (d *Detector) leastMoved() int { return d.minCells(d.share) }

// find finds the connected areas and judges them.
func (d *Detector) find(now, before []uint16, light plane.Exposure, minMoved int) []area.Area {
	blink, blinkLight := now, plane.Same
	if short := d.history.near(shortLag); short != nil {
		blink = short.cells
		d.light.Look(d.history.current().samples, d.flags, cellFore|cellMoved)
		d.looked = true
		blinkLight = d.light.Fit(short.samples)
	}
	v := d.views(now, before, blink, light, blinkLight)
	d.finder.Label(d.solid, d.model.parked)
	objects := d.finder.Collect(&v, max(2, minMoved/2))
	for i := range objects {
		o := &objects[i]
		d.glare(i, o, now)
		// A thing with its soft shadow is half light: its core says better what it is.
		if o.Light = o.SeemsLight(); (o.Light || o.Glared == 0 && o.Substance() < area.ThingSubstance) &&
			d.core(i, o, now) {
			o.Light = false
		}
		o.Left = o.Cells >= d.grid.cells()/standsAtMost
		o.Judge(minMoved)
		if float64(o.Moved) > fillsPicture*float64(d.grid.cells()) {
			o.Strong, o.Weak, o.Stirs, o.Creeps = false, false, false, false
			d.upset = true
		}
	}
	return objects
}

// views are what areas are measured in: the newest picture, those the long and the short lag ago,
// and the light that makes these comparable.
func (d *Detector) views(now, before, blink []uint16, light, blinkLight plane.Exposure) plane.Views {
	m := &d.model
	return plane.Views{
		Now: now, Before: before, Blink: blink, Background: m.background, Noise: d.doubt, Stay: m.stay,
		Parked: m.parked, Worn: d.habit.memory,
		Flags: d.flags, Solid: d.solid, Width: d.grid.width, Height: d.grid.height,
		Light: light, BlinkLight: blinkLight, Contrast: d.contrast, Young: area.CreepAge,
	}
}
