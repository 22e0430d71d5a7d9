package motion

// model is what the detector knows of each cell.
type model struct {
	background []uint16 // usual brightness, 1/256 grey levels, kept in the exposure of the newest picture
	noise      []uint16 // what a cell differs from itself a moment ago when nothing moves, 1/256 grey levels
	stay       []uint16 // for how long a cell has differed from the background, ms
	still      []uint16 // for how long such a cell has not changed, ms
	parked     []uint8  // for how many seconds more a cell counts as the place of a thing that stands there
	sweep      int      // ms until the next second of parked
}

const (
	maxStay     = 60_000 // ms, the end of the scale of stay and still
	parkedAfter = 1000   // ms of stay after which a cell belongs to a thing that stands
	parkedFor   = 2      // s for which a place counts as taken after the thing left
	absorbedFor = 240    // s for which the place of a thing that became background counts as taken
	firstNoise  = 384    // noise before anything was learned
	learnNoise  = 4 << 8 // cap of the noise while learning, so that who walks then leaves no blind trail
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
}

// expose moves the background into a new exposure.
func (m *model) expose(e exposure) {
	for i, v := range m.background {
		m.background[i] = uint16(e.apply(v))
	}
}

// pace is how fast the model follows, as shares of a difference in 1/65536 for the time that passed.
type pace struct {
	background, up, down int32
	absorb               uint16 // ms without change after which a standing thing becomes background
	noiseCap, twigCap    int32
	ms                   uint16
}

// paceFor returns the pace for ms milliseconds. The noise rises four times as fast as it falls, so that it settles above the mean.
func paceFor(ms int, learning, young bool) pace {
	per := func(tau int) int32 { return int32(min(65536/2, 65536*ms/tau)) }
	p := pace{background: per(2000), up: per(2500), down: per(10_000), absorb: maxStay - 1, noiseCap: maxNoise, twigCap: twigNoise, ms: uint16(ms)}
	if young {
		p.absorb = 3000
	}
	if learning {
		p.background, p.up, p.down, p.noiseCap, p.twigCap = per(300), per(400), per(1600), learnNoise, learnNoise
	}
	return p
}

// What learn is told of a cell of an object.
const (
	heldMoves = 1 // it moves: the noise hardly rises, so that a passer-by teaches nothing, but what moves in one place for long does
	heldLarge = 2 // it stands: the noise rises no further than elsewhere in the scene, so that who stirs is still seen when leaving
)

// learn takes the newest picture into the model, for the cells from..to. A cell that changes and is of no object worth the name, such as the digits
// of a clock or a twig, may become as noisy as it likes.
func (m *model) learn(now, before []uint16, e exposure, flags, solid, held []byte, from, to int, p pace) {
	now, before, flags, solid, held = now[from:to], before[from:to], flags[from:to], solid[from:to], held[from:to]
	background, noise, stay, still, parked := m.background[from:to], m.noise[from:to], m.stay[from:to], m.still[from:to], m.parked[from:to]
	gain, offset := uint64(e.gain), e.offset
	for i := range now {
		v := int32(now[i])
		x := max(0, min(65535, int32(uint64(before[i])*gain>>12)+offset))
		d := abs32(v-x) - int32(noise[i])
		rate := p.down
		if d > 0 {
			rate = p.up
			if held[i] == heldMoves {
				rate >>= 4
			}
			if held[i] != 0 {
				d = min(d, max(0, p.noiseCap-int32(noise[i])))
			}
		}
		noise[i] = uint16(max(0, min(p.twigCap, int32(noise[i])+int32(int64(d)*int64(rate)>>16))))
		b := int32(background[i])
		if flags[i]&cellFore == 0 || solid[i] == 0 {
			background[i] = uint16(b + int32(int64(v-b)*int64(p.background)>>16))
			stay[i], still[i] = 0, 0
			continue
		}
		stay[i] = min(maxStay, stay[i]+p.ms)
		still[i] = min(maxStay, still[i]+p.ms)
		if flags[i]&cellMoved != 0 {
			still[i] = 0
			if held[i] != 0 {
				parked[i] = min(parked[i], parkedFor)
			}
		}
		if stay[i] >= parkedAfter {
			parked[i] = max(parked[i], parkedFor)
		}
		if still[i] >= p.absorb {
			background[i] = now[i]
			parked[i] = absorbedFor
		}
	}
}

// pass lets ms milliseconds go by for the parked places.
func (m *model) pass(ms int) {
	m.sweep -= ms
	for m.sweep <= 0 {
		m.sweep += 1000
		for i, v := range m.parked {
			if v > 0 {
				m.parked[i] = v - 1
			}
		}
	}
}
