package plane

import "encoding/binary"

// Memory is what is known of cells. All slices have the same length.
type Memory struct {
	Background []uint16 // usual brightness
	Noise      []uint16 // what a cell differs from itself a moment ago when nothing moves
	Stay       []uint16 // for how long a cell has differed from the background, ms
	Still      []uint16 // for how long such a cell has not changed, ms
	Parked     []uint8  // for how many seconds more a cell counts as the place of a thing that stands there
}

// Part is m for the cells from..to.
func (m Memory) Part(from, to int) Memory {
	return Memory{m.Background[from:to:to], m.Noise[from:to:to], m.Stay[from:to:to], m.Still[from:to:to],
		m.Parked[from:to:to]}
}

// The scales of Memory.
const (
	MaxStay     = 60_000 // ms, the end of the scale of Stay and Still
	ParkedAfter = 1000   // ms of Stay after which a cell belongs to a thing that stands
	ParkedFor   = 2      // s for which a place counts as taken after the thing left
	AbsorbedFor = 240    // s for which the place of a thing that became background counts as taken
)

// What Learn is told of a cell of an object.
const (
	// it moves: the noise hardly rises, so that a passer-by teaches nothing, but what moves in one
	// place for long does
	HeldMoves = 1
	// it stands: the noise rises no further than elsewhere in the scene, so that who stirs is still
	// seen when leaving
	HeldLarge = 2
)

// Pace is how fast Memory follows: shares of a difference in 1/65536 for the time that passed, each
// at most a half.
type Pace struct {
	Background, Up, Down int32
	Absorb               uint16 // ms without change after which a standing thing becomes background
	NoiseCap, TwigCap    int32  // of the noise, for what is of an object and for what is not; at most 65535
	Ms                   uint16 // that passed, at most 500
}

// Learn takes the newest picture into m. A cell that changes and is of no object worth the name
// (held is 0), such as the digits of a clock or a twig, may become as noisy as it likes. Solid
// holds only 0 and 1. No noise is above TwigCap afterwards.
func Learn(now, before []uint16, e Exposure, flags, solid, held []byte, m Memory, p Pace) {
	n, done := len(now), 0
	before, flags, solid, held, m = before[:n], flags[:n], solid[:n], held[:n], m.Part(0, n)
	if e.wide() {
		done = learnWide(now, before, e.Gain, e.Offset, flags, solid, held, &m, &p)
	}
	learnPlain(now[done:], before[done:], e, flags[done:], solid[done:], held[done:], m.Part(done, n), p)
}

// learnPlain is the reference of Learn.
func learnPlain(now, before []uint16, e Exposure, flags, solid, held []byte, m Memory, p Pace) {
	for i := range now {
		v := int32(now[i])
		d := Abs(v-e.Apply(before[i])) - int32(m.Noise[i])
		rate := p.Down
		if d > 0 {
			rate = p.Up
			if held[i] == HeldMoves {
				rate >>= 4
			}
			if held[i] != 0 {
				d = min(d, max(0, p.NoiseCap-int32(m.Noise[i])))
			}
		}
		m.Noise[i] = uint16(max(0, min(p.TwigCap, int32(m.Noise[i])+int32(int64(d)*int64(rate)>>16))))
		if flags[i]&Fore == 0 || solid[i] == 0 {
			b := int32(m.Background[i])
			m.Background[i] = uint16(b + int32(int64(v-b)*int64(p.Background)>>16))
			m.Stay[i], m.Still[i] = 0, 0
			continue
		}
		m.stand(i, now[i], flags[i], held[i], &p)
	}
}

// stand is what Learn does with a cell that differs from the background.
func (m *Memory) stand(i int, now uint16, flags, held byte, p *Pace) {
	m.Stay[i] = min(MaxStay, m.Stay[i]+p.Ms)
	m.Still[i] = min(MaxStay, m.Still[i]+p.Ms)
	if flags&Moved != 0 {
		m.Still[i] = 0
		if held != 0 {
			m.Parked[i] = min(m.Parked[i], ParkedFor)
		}
	}
	if m.Stay[i] >= ParkedAfter {
		m.Parked[i] = max(m.Parked[i], ParkedFor)
	}
	if m.Still[i] >= p.Absorb {
		m.Background[i] = now
		m.Parked[i] = AbsorbedFor
	}
}

// CountDown takes one from every byte that is not zero.
func CountDown(seconds []uint8) {
	const low, high = 0x0101010101010101, 0x8080808080808080
	for len(seconds) >= 8 {
		v := binary.LittleEndian.Uint64(seconds)
		if v != 0 {
			set := ((v&^high + ^uint64(high)) | v) & high >> 7
			binary.LittleEndian.PutUint64(seconds, v-set)
		}
		seconds = seconds[8:]
	}
	countDownPlain(seconds)
}

// countDownPlain is the reference of CountDown.
func countDownPlain(seconds []uint8) {
	for i, v := range seconds {
		if v > 0 {
			seconds[i] = v - 1
		}
	}
}
