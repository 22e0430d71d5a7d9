package scene

import (
	"slices"

	"vmsbridge/scripts/lab/scene/figure"
	"vmsbridge/scripts/lab/scene/plate"
)

// settle chooses the place, its light and the camera from the seed, as far as the parts leave it
// open.
func (s *Scene) settle(names []string) error {
	kinds, seed := []string{"office", "corridor", "warehouse", "yard", "street", "parking"}, s.o.Seed
	dark := false
	for _, n := range names {
		if p := partOf(n); p.outdoors {
			kinds = []string{"yard", "street", "parking"}
		}
		if partOf(n).doors {
			kinds = slices.DeleteFunc(kinds, func(k string) bool { return k == "corridor" || k == "parking" })
		}
		dark = dark || partOf(n).night
	}
	kind := kinds[s.r.IntN(len(kinds))]
	for _, n := range names {
		if slices.Contains(plate.Kinds(), n) {
			kind = n
		}
	}
	classic := len(names) == 1 && slices.Contains([]string{"person", "quiet", "light-switch"}, names[0])
	if classic || slices.Contains(names, "person") && len(names) == 1 {
		kind, seed = "office", 5
	}
	var err error
	s.place, err = plate.New(kind, plate.Options{Width: s.o.Width, Height: s.o.Height, Seed: seed,
		Tree: slices.Contains(names, "tree")})
	if err != nil {
		return err
	}
	s.weights = [3]float64{s.between(0.5, 1), s.between(0.3, 1.2), 0}
	s.camera.Noise, s.camera.Grain = s.between(0.8, 2.6), s.r.Float64()
	s.camera.Gamma, s.camera.Contrast = s.between(0.42, 0.52), s.between(0, 0.5)
	s.exposure = exposure{aim: s.between(0.16, 0.5), strength: s.between(0.5, 0.95), tau: s.between(0.15, 0.8)}
	if s.r.Float64() < 0.4 {
		s.camera.Smear = s.between(0.2, 0.6)
	}
	if s.r.Float64() < 0.6 { // most cameras that are met send a stream of a middling rate
		s.camera.Quality, s.camera.GOP = s.between(2, 7), int(s.between(1, 4)*float64(s.o.Rate))
	}
	if classic {
		s.weights, s.camera.Noise, s.camera.Grain, s.camera.Smear, s.camera.Quality = [3]float64{0.7, 0.9, 0}, 2, 0.4,
			0, 0
		s.camera.Gamma, s.camera.Contrast = 0.45, 0.2
		s.exposure = exposure{aim: 0.26}
	}
	if dark {
		s.darken()
	}
	s.expand()
	return nil
}

// darken makes it night: the camera's own lamp, or what little light there is.
func (s *Scene) darken() {
	if s.r.Float64() < 0.65 {
		s.weights = [3]float64{s.between(0, 0.06), s.between(0, 0.06), s.between(0.6, 1.2)}
	} else {
		s.weights = [3]float64{s.between(0.05, 0.1), s.between(0, 0.1), 0}
	}
	s.camera.Noise, s.camera.Grain = s.between(2, 5), s.between(0.3, 1)
	s.exposure.aim = s.between(0.05, 0.16)
}

// expand works out what each light leaves of the place.
func (s *Scene) expand() {
	n := s.o.Width * s.o.Height
	s.base, s.pix, s.shifted = make([]uint16, n), make([]uint16, n), make([]uint16, n)
	for k := range s.lit {
		reflects := s.place.Reflects
		if k == plate.Infrared {
			reflects = s.place.InReflects
		}
		s.lit[k] = make([]uint16, n)
		sum := 0.0
		for i, l := range s.place.Lights[k] {
			v := min(65535, uint32(reflects[i])*uint32(l)>>14>>1)
			s.lit[k][i] = uint16(v)
			sum += float64(v)
		}
		s.mean[k] = sum / float64(n)
		s.coarse[k] = coarseOf(s.place.Lights[k], s.o.Width, s.o.Height)
	}
	s.target = figure.Target{Width: s.o.Width, Height: s.o.Height, Pix: s.pix, Depth: s.place.Depth, Light: s.lightAt}
}

// lightAt is how much light falls at a place in the picture that is being drawn; half, as in lit.
func (s *Scene) lightAt(x, y float64) float64 {
	f := &s.frame
	l := 0.0
	for k, w := range f.weights {
		if w == 0 {
			continue
		}
		v := w * s.coarse[k].at(x, y)
		if k == plate.Lamp && f.clouds != nil {
			v *= f.clouds.at(x, y)
		}
		l += v
	}
	for i := range f.beams {
		l += f.beams[i].at(x, y)
	}
	return l / 2
}

const gridWide, gridHigh = 32, 18

// grid is something coarse over the picture.
type grid [gridHigh + 1][gridWide + 1]float32

// at interpolates.
func (g *grid) at(x, y float64) float64 {
	x, y = max(0, min(0.9999, x))*gridWide, max(0, min(0.9999, y))*gridHigh
	i, j := int(x), int(y)
	u, v := float32(x-float64(i)), float32(y-float64(j))
	return float64((g[j][i]*(1-u)+g[j][i+1]*u)*(1-v) + (g[j+1][i]*(1-u)+g[j+1][i+1]*u)*v)
}

// multiply scales what is on the pixels by the grid and adds it to dst.
func (g *grid) multiply(dst, pix []uint16, w, h int, weight float64) {
	for y := range h {
		fy := (float64(y) + 0.5) / float64(h) * gridHigh
		j := min(gridHigh-1, int(fy))
		v := float32(fy - float64(j))
		var line [gridWide + 1]float32
		for i := range line {
			line[i] = (g[j][i]*(1-v) + g[j+1][i]*v) * float32(weight)
		}
		x := 0
		for i := range gridWide {
			end := (i + 1) * w / gridWide
			if end == x {
				continue
			}
			k := int32(line[i] * 65536)
			step := int32((line[i+1] - line[i]) * 65536 / float32(end-x))
			out, in := dst[y*w+x:y*w+end], pix[y*w+x:y*w+end]
			for p, r := range in {
				out[p] = uint16(min(65535, int64(out[p])+int64(r)*int64(k)>>16))
				k += step
			}
			x = end
		}
	}
}

func coarseOf(light []uint16, w, h int) grid {
	var g grid
	for j := range g {
		for i := range g[j] {
			x, y := min(w-1, i*w/gridWide), min(h-1, j*h/gridHigh)
			g[j][i] = float32(light[y*w+x]) / plate.Unit
		}
	}
	return g
}
