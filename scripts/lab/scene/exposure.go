package scene

import "math"

const exposureStep = 0.05 // seconds

// exposure is the camera's automatic exposure: it follows the brightness of the place, late and not
// quite.
type exposure struct {
	aim      float64 // mean of the picture, as a share of white
	strength float64 // 0 is a fixed exposure, 1 corrects everything when it gets darker
	tau      float64 // seconds that it takes
	gains    []float64
}

// settle works out the exposure of the whole loop, from the light alone.
func (e *exposure) settle(s *Scene) {
	s.arrange(0, 0)
	first := s.brightness()
	fixed := e.aim * 40000 / max(1, first)
	lag := 1.0 // log of the correction
	for t := 0.0; t < s.loop.Seconds()+exposureStep; t += exposureStep {
		s.arrange(0, t)
		want := math.Log(first / max(first*0.002, s.brightness()))
		if want < 0 && e.strength > 0 { // too bright is put right; for the dark, the gain does not always suffice
			want *= max(e.strength, 0.93)
		} else {
			want *= e.strength
		}
		if t == 0 {
			lag = want
		}
		lag += (want - lag) * min(1, exposureStep/max(exposureStep, e.tau))
		e.gains = append(e.gains, fixed*math.Exp(lag))
	}
}

// brightness is the mean light of the frame.
func (s *Scene) brightness() float64 {
	f := &s.frame
	sum := f.weights[0]*s.mean[0] + f.weights[2]*s.mean[2]
	lamp := f.weights[1] * s.mean[1]
	if f.clouds != nil {
		k := 0.0
		for y := range gridHigh {
			k += float64(f.clouds[y][5] + f.clouds[y][16] + f.clouds[y][27])
		}
		lamp *= k / (3 * gridHigh)
	}
	for i := range f.beams {
		sum += f.beams[i].mean() * s.mean[0]
	}
	return sum + lamp
}

// apply sets the gain, and the noise that comes with it.
func (e *exposure) apply(t float64, f *frame) {
	if len(e.gains) == 0 {
		return
	}
	x := t / exposureStep
	i := min(len(e.gains)-1, int(x))
	j := min(len(e.gains)-1, i+1)
	g := e.gains[i] + (e.gains[j]-e.gains[i])*(x-float64(i))
	f.gain *= g
	f.noise *= math.Pow(max(0.5, min(8, g/e.gains[0])), 0.5)
}
