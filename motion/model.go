package motion

import (
	"vmsbridge/motion/plane"
)

// model is what the detector knows of each cell.
type model struct {
	background []uint16 // usual brightness, 1/256 grey levels, kept in the exposure of the newest picture
	noise      []uint16 // what a cell differs from itself a moment ago when nothing moves, 1/256 grey levels
	stay       []uint16 // for how long a cell has differed from the background, ms
	still      []uint16 // for how long such a cell has not changed, ms
	parked     []uint8  // for how many seconds more a cell counts as the place of a thing that stands there
	sweep      int      // ms until the next second of parked
	lessons    [2]int   // how often the noise of the upper and of the lower half of the cells was learned
}

const (
	maxStay    = plane.MaxStay   // ms, the end of the scale of stay and still
	parkedFor  = plane.ParkedFor // s for which a place counts as taken after the thing left
	firstNoise = 384             // noise before anything was learned
	learnNoise = 4 << 8          // cap of the noise while learning, so that who walks then leaves no blind trail
)

func (m *model) resize(cells int) {
	*m = model{
		background: make([]uint16, cells), noise: make([]uint16, cells),
		stay: make([]uint16, cells), still: make([]uint16, cells), parked: make([]uint8, cells),
	}
}

// begin takes a first picture as the background.
func (m *model) begin(now []uint16) {
	copy(m.background, now)
	for i := range m.noise {
		m.noise[i] = firstNoise
	}
	clear(m.stay)
	clear(m.still)
	clear(m.parked)
	m.sweep = 1000
	m.lessons = [2]int{m.lessons[0] + 1, m.lessons[1] + 1}
}

// renew takes a cell of the newest picture for background.
func (m *model) renew(i int, now uint16) {
	m.background[i] = now
	m.stay[i], m.still[i], m.parked[i] = 0, 0, 0
}

// floor lets no cell's noise be less than what the picture as a whole shows at the start.
func (m *model) floor(noise uint16) {
	if noise <= firstNoise {
		return
	}
	for i, n := range m.noise {
		m.noise[i] = max(n, noise)
	}
	m.lessons = [2]int{m.lessons[0] + 1, m.lessons[1] + 1}
}

// expose moves the background into a new exposure.
func (m *model) expose(e plane.Exposure) { plane.Expose(m.background, e) }

// memory is what plane.Learn changes.
func (m *model) memory() plane.Memory {
	return plane.Memory{Background: m.background, Noise: m.noise, Stay: m.stay, Still: m.still, Parked: m.parked}
}

// paceFor returns the pace for ms milliseconds. The noise rises four times as fast as it falls, so
// that it settles above the mean.
func paceFor(ms int, learning, young bool) plane.Pace {
	per := func(tau int) int32 { return int32(min(65536/2, 65536*ms/tau)) }
	p := plane.Pace{
		Background: per(2000), Up: per(2500), Down: per(
			10_000), Absorb: maxStay - 1, NoiseCap: maxNoise, TwigCap: twigNoise, Ms: uint16(ms),
	}
	if young {
		p.Absorb = 3000
	}
	if learning {
		p.Background, p.Up, p.Down, p.NoiseCap, p.TwigCap = per(300), per(400), per(1600), learnNoise, learnNoise
	}
	return p
}

// What learn is told of a cell of an object.
const (
	heldMoves = plane.HeldMoves
	heldLarge = plane.HeldLarge
)

// learn takes the newest picture into the model, for the cells from..to.
func (m *model) learn(now, before []uint16, e plane.Exposure, flags, solid, held []byte, from, to int, p plane.Pace) {
	if half := len(now) / 2; from < half {
		m.lessons[0]++
	} else {
		m.lessons[1]++
	}
	plane.Learn(now[from:to], before[from:to], e, flags[from:to], solid[from:to], held[from:to],
		m.memory().Part(from, to), p)
}

// pass lets ms milliseconds go by for the parked places.
func (m *model) pass(ms int) {
	m.sweep -= ms
	for m.sweep <= 0 {
		m.sweep += 1000
		plane.CountDown(m.parked)
	}
}
