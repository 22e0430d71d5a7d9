package pipeline

import (
	"time"

	"vmsbridge/configs"
	"vmsbridge/motion"
)

// LumaPixels is the detector's working size: 320x180 for a 16:9 picture.
const LumaPixels = 320 * 180

// DetectorConfig is what the detector is told of a camera whose settings are m.
func DetectorConfig(m configs.CameraMotion) motion.Config {
	c := motion.Config{Sensitivity: m.Sensitivity, QuietPeriod: m.QuietPeriod, MinDuration: m.MinDuration,
		MaxDuration: m.MaxDuration}
	for _, area := range m.Masks {
		c.Masks = append(c.Masks, motion.Polygon(area))
	}
	for _, g := range m.Regions {
		c.Regions = append(c.Regions, motion.Region{ID: g.ID, Name: g.Name, Area: motion.Polygon(g.Area),
			Sensitivity: g.Sensitivity})
	}
	return c
}

// Sampler chooses the pictures that are looked at, of all that come. Its zero value takes every
// one. Not safe for concurrent use.
type Sampler struct {
	interval time.Duration
	last     time.Time
}

// NewSampler looks at about so many pictures a second; 0 or less takes every one. A quarter is
// allowed for, so that a camera whose rate is the wanted one is looked at in full.
func NewSampler(perSecond float64) Sampler {
	if perSecond <= 0 {
		return Sampler{}
	}
	return Sampler{interval: time.Duration(float64(time.Second) / perSecond * 3 / 4)}
}

// Due tells whether the picture captured at t is to be looked at, and counts it as looked at if so.
// A clock that was set back makes the next picture due.
func (p *Sampler) Due(t time.Time) bool {
	if since := t.Sub(p.last); since >= 0 && since < p.interval {
		return false
	}
	p.last = t
	return true
}

// From is the time before which no picture will be due, when one captured at t is about to come.
func (p *Sampler) From(t time.Time) time.Time {
	if t.Before(p.last) {
		return time.Time{} // the clock was set back
	}
	return p.last.Add(p.interval)
}

// Last is the time of the last picture that was due; zero before the first.
func (p *Sampler) Last() time.Time { return p.last }
