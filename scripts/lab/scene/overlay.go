package scene

import (
	"fmt"
	"math"
	"time"

	"vmsbridge/scripts/lab/scene/plate"
)

// font is 5x7, a row a byte, for what cameras burn in.
var font = map[rune][7]byte{
	'0': {14, 17, 19, 21, 25, 17, 14}, '1': {4, 12, 4, 4, 4, 4, 14}, '2': {14, 17, 1, 2, 4, 8, 31}, '3': {31, 2, 4, 2,
		1, 17, 14},
	'4': {2, 6, 10, 18, 31, 2, 2}, '5': {31, 16, 30, 1, 1, 17, 14}, '6': {6, 8, 16, 30, 17, 17, 14}, '7': {31, 1, 2, 4,
		8, 8, 8},
	'8': {14, 17, 17, 14, 17, 17, 14}, '9': {14, 17, 17, 15, 1, 2, 12}, ':': {0, 4, 4, 0, 4, 4, 0}, '-': {0, 0, 0, 14,
		0, 0, 0},
	'/': {1, 1, 2, 4, 8, 16, 16}, '.': {0, 0, 0, 0, 0, 4, 4}, 'C': {14, 17, 16, 16, 16, 17, 14}, 'A': {14, 17, 17, 31,
		17, 17, 17},
	'M': {17, 27, 21, 21, 17, 17, 17}, 'E': {31, 16, 16, 30, 16, 16, 31}, 'R': {30, 17, 17, 30, 20, 18, 17},
}

// text burns a line in, its middle row at y; high is its height; all in fractions. Letters are
// white with a dark edge, or in a box.
func (s *Scene) text(dst []byte, line string, x, y, high float64, box bool) {
	w, h := s.o.Width, s.o.Height
	dot := max(1, high*float64(h)/7)
	left, top := x*float64(w), y*float64(h)
	wide := dot * 6 * float64(len(line))
	if left+wide > float64(w) {
		left = float64(w) - wide - 2
	}
	set := func(px, py int, to byte) {
		if px >= 0 && px < w && py >= 0 && py < h {
			dst[py*w+px] = to
		}
	}
	if box {
		for py := int(top - dot); float64(py) < top+8*dot; py++ {
			for px := int(left - dot); float64(px) < left+wide; px++ {
				set(px, py, 16)
			}
		}
	}
	for pass := range 2 {
		for n, c := range line {
			for j, bits := range font[c] {
				for i := range 5 {
					if bits>>(4-i)&1 == 0 {
						continue
					}
					x0, y0 := left+(float64(6*n+i))*dot, top+float64(j)*dot
					grow, to := 0.0, byte(240)
					if pass == 0 {
						grow, to = max(1, dot*0.4), 12
					}
					for py := int(y0 - grow); float64(py) < y0+dot+grow; py++ {
						for px := int(x0 - grow); float64(px) < x0+dot+grow; px++ {
							set(px, py, to)
						}
					}
				}
			}
		}
	}
}

// clock burns the time in, as most cameras do by default.
func (s *Scene) clock() {
	places := [][2]float64{{0.02, 0.03}, {0.6, 0.03}, {0.02, 0.91}, {0.6, 0.91}, {0.35, 0.03}}
	at := places[s.r.IntN(len(places))]
	high, box, date, tenths := s.between(0.035, 0.075), s.r.IntN(4) == 0, s.r.IntN(2) == 0, s.r.IntN(6) == 0
	begin := time.Date(2026, 3, 1, 9, s.r.IntN(60), s.r.IntN(60), s.r.IntN(1e9), time.UTC)
	s.after = append(s.after, func(_ int, t float64, dst []byte) {
		now := begin.Add(time.Duration(t * float64(time.Second)))
		line := now.Format("15:04:05")
		if date {
			line = now.Format("2006-01-02 15:04:05")
		}
		if tenths {
			line += fmt.Sprintf(".%d", now.Nanosecond()/1e8)
		}
		s.text(dst, line, at[0], at[1], high, box)
		s.text(dst, "CAMERA 3", 0.02, 0.5-0.41*math.Copysign(1, at[1]-0.5), high, box)
	})
}

// keyframes is a stream of a rate far too low: each group of pictures begins with a pulse.
func (s *Scene) keyframes() {
	s.camera.Quality, s.camera.GOP = s.between(8, 20), max(2, int(s.between(1, 4.5)*float64(s.o.Rate)))
}

// night is the dark: noise, the camera's noise reduction, and a bit rate that was made for the day.
func (s *Scene) night() {
	s.camera.Noise, s.camera.Grain, s.camera.Smear = s.between(4.5, 11), s.between(0.2, 1), s.between(0.3, 0.8)
	if s.r.IntN(3) == 0 {
		s.camera.Smear = 0
	}
	if s.camera.Quality > 0 {
		s.camera.Quality = s.between(4, 10)
	}
	s.exposure.aim = s.between(0.04, 0.12)
}

// screen is a television: cuts, and movement within its frame.
func (s *Scene) screen() {
	area := s.place.Screen
	if area == [4]float64{} {
		x, y := s.between(0.1, 0.7), s.between(0.2, 0.5)
		area = [4]float64{x, y, x + 0.12, y + 0.12}
	}
	cuts := s.times(0.5, 1, 7)
	seed := s.between(0, 99)
	s.scenic = append(s.scenic, func(t float64, f *frame) {
		w, h := float64(s.o.Width), float64(s.o.Height)
		n, ago := passed(cuts, t)
		n0 := float64(n)
		level := f.whiteNow() * (0.25 + 0.3*plate.Noise(n0*7.7, seed))
		for y := int(area[1] * h); y < min(s.o.Height, int(area[3]*h)); y++ {
			for x := int(area[0] * w); x < min(s.o.Width, int(area[2]*w)); x++ {
				u, v := (float64(x)/w-area[0])/(area[2]-area[0]), (float64(y)/h-area[1])/(area[3]-area[1])
				k := 1 + 0.8*plate.Noise(u*3+n0*11+0.3*min(ago, 9), v*2+seed) + 0.3*plate.Noise(u*11+n0, v*9+0.8*t)
				s.pix[y*s.o.Width+x] = uint16(max(0, min(65535, level*k)))
			}
		}
	})
}
