package scene

import (
	"slices"

	"vmsbridge/scripts/lab/scene/plate"
)

// thermal makes the camera one that sees warmth: there is no light and no shadow, the place is flat
// and soft, its picture noisy, and who is warm shines and has a dark halo, which the camera's own
// filter makes.
func (s *Scene) thermal() {
	flat, level := s.between(0.15, 0.4), plate.Linear(s.between(50, 95))
	for k := range s.place.Lights {
		for i := range s.place.Lights[k] {
			s.place.Lights[k][i] = plate.Unit
		}
	}
	mean := 0.0
	for _, v := range s.place.Reflects {
		mean += float64(v)
	}
	mean /= float64(len(s.place.Reflects))
	for i, v := range s.place.Reflects {
		s.place.Reflects[i] = uint16(max(0, min(65535, float64(level)*(1+flat*(float64(v)-mean)/mean))))
	}
	blur(s.place.Reflects, s.o.Width, s.o.Height, 0.002*float64(s.o.Width))
	s.place.InReflects = slices.Clone(s.place.Reflects)
	s.weights = [3]float64{1, 0, 0}
	s.camera.Noise, s.camera.Grain, s.camera.Contrast = s.between(2, 4.5), s.between(0.3, 1), 0
	s.exposure.aim, s.exposure.strength = s.between(0.1, 0.25), 0
	s.expand()
	s.target.Warm = true
	drifts, strong := s.between(15, 60), s.between(0, 0.04)
	s.light = append(s.light, func(t float64, f *frame) { f.gain *= 1 + strong*wave(t, drifts, 0) })
	deep, wide := s.between(0.2, 0.6), s.between(0.015, 0.04)
	halo := make([]uint16, len(s.pix))
	s.before = append(s.before, func(_ float64, f *frame) {
		for i, v := range s.pix {
			halo[i] = v - min(v, s.base[i])
		}
		for range 2 {
			blur(halo, s.o.Width, s.o.Height, wide*float64(s.o.Width))
		}
		for i, v := range halo {
			s.pix[i] -= min(s.pix[i]*3/4, uint16(deep*float64(v)))
		}
	})
}
