package motion

import (
	"time"

	"vmsbridge/motion/plane"
)

const (
	// in which what stands still is soon taken for background: it may be the hole that a passer-by
	// left
	youngFor    = 4 * time.Second
	upsetAtMost = 1500 * time.Millisecond // for which a change of the whole picture teaches no noise
)

// half is the cells that the model learns from the newest picture: the upper half and the lower
// half in turn, which is as good and costs half.
func (d *Detector) half() (from, to int) {
	half := d.grid.cells() / 2
	if d.turn == 1 {
		return half, d.grid.cells()
	}
	return 0, half
}

// adapt takes the picture into the model.
func (d *Detector) adapt(now, before []uint16, light plane.Exposure, dt time.Duration) {
	ms := int(dt.Milliseconds())
	d.rows[0], d.rows[1] = d.rows[0]+ms, d.rows[1]+ms
	from, to := d.half()
	settles := d.learning() || d.at < d.began+settleFor
	p := paceFor(min(d.rows[d.turn], 500), settles, d.at < d.learned+youngFor)
	if d.newScene {
		p.Absorb = strangeAbsorb
	}
	if d.freshFor > 0 {
		q := paceFor(int(p.Ms), true, true)
		p.Background, p.Up, p.Down, p.Absorb = q.Background, q.Up, q.Down, strangeAbsorb
		d.freshFor -= min(d.freshFor, dt)
	}
	// Lamps that beat with the shutter upset the picture all the time: that is learned.
	if d.upset {
		d.upsetFor += dt
	} else {
		d.upsetFor -= min(d.upsetFor, dt/4)
	}
	if d.upset && d.upsetFor < upsetAtMost && !d.learning() {
		p.Up = 0
	}
	d.model.learn(now, before, light, d.flags, d.solid, d.held, from, to, p)
	d.rows[d.turn] = 0
	d.turn = 1 - d.turn
	d.model.pass(ms)
	d.unlit.pass(ms)
	d.habit.learn(d, d.passing(), dt)
	d.ghosts.lay(d, now)
}
