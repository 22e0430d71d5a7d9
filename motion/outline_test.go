package motion

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/motion/area"
	"vmsbridge/motion/plane"
)

// patterned is an empty scene of 160x90 with boards and furniture, in 1/256 grey levels.
func patterned() []uint16 {
	cells := make([]uint16, 160*90)
	for i := range cells {
		x, y := i%160, i/160
		v := 90 + 20*math.Sin(float64(x)/3)*math.Cos(float64(y)/4)
		if x/20%2 == 0 && y > 40 {
			v -= 35
		}
		cells[i] = uint16(256 * v)
	}
	return cells
}

// outlineAgainst is the outline of what differs between a background and a picture by more than
// limit.
func outlineAgainst(background, now []uint16, limit int32) area.Outline {
	d := &Detector{grid: newGrid(160, 90), flags: make([]byte, len(now)), solid: make([]byte, len(now)),
		contrast: limit}
	d.model.background, d.model.noise = background, make([]uint16, len(now))
	d.doubt = d.model.noise
	for i := range now {
		if abs32(int32(now[i])-int32(background[i])) > limit {
			d.flags[i], d.solid[i] = cellFore, 1
		}
	}
	var s plane.Sums
	v := d.views(now, nil, nil, plane.Same, plane.Same)
	for y := range d.grid.height {
		plane.Trace(&v, 0, y, d.grid.width, &s)
	}
	return area.OutlineOf(&s)
}

// TestOutlineTellsThingsFromLight: a beam with a cut-off and a soft shadow have less substance than
// what may be a thing, a person in front of the same pattern has more, dark or bright, plain or
// patterned.
func TestOutlineTellsThingsFromLight(t *testing.T) {
	draw := func(f func(x, y, v float64) float64) []uint16 {
		cells := patterned()
		for i, v := range cells {
			cells[i] = uint16(256 * max(0, min(255, f(float64(i%160), float64(i/160), float64(v)/256))))
		}
		return cells
	}
	beam := func(x, y, v float64) float64 {
		u, w := (x-80)/30, (y-45)/16
		if w < -0.35 {
			w = -0.35 + (w+0.35)*4
		}
		if d := u*u + w*w; d < 1 {
			return v * (1 + 1.2*(1-d)*(1-d))
		}
		return v
	}
	shadow := func(x, y, v float64) float64 {
		return v * (1 - 0.5*math.Exp(-((x-80)*(x-80)+(y-45)*(y-45))/400))
	}
	for name, f := range map[string]func(x, y, v float64) float64{"beam": beam, "shadow": shadow} {
		o := outlineAgainst(patterned(), draw(f), 6<<8)
		require.Less(t, o.Substance(), area.LightSubstance, name)
	}
	for _, level := range []float64{20, 60, 140, 220} {
		for _, pattern := range []float64{0, 25} {
			o := outlineAgainst(patterned(), draw(func(x, y, v float64) float64 {
				if x < 70 || x >= 88 || y < 30 || y >= 75 {
					return v
				}
				return level + pattern*math.Sin(y/2)
			}), 6<<8)
			require.Greater(t, o.Substance(), area.ThingSubstance, "level %v, pattern %v", level, pattern)
		}
	}
}

// TestAThingInItsShadowIsNoLight: a shadow or a beam is much larger than who is in it, and one area
// with them; that area is a thing, and without them light.
func TestAThingInItsShadowIsNoLight(t *testing.T) {
	for name, gain := range map[string]float64{"shadow": -0.3, "beam": 0.3} {
		for _, somebody := range []bool{false, true} {
			d, err := New(Config{})
			require.NoError(t, err)
			d.resize(320, 180)
			background := patterned()
			d.model.begin(background)
			now := patterned()
			for i, v := range now {
				x, y := float64(i%160), float64(i/160)
				level := float64(v) * (1 + gain*math.Exp(-((x-80)*(x-80)/1500+(y-45)*(y-45)/500)))
				if somebody && x >= 76 && x < 85 && y >= 34 && y < 56 {
					level = 12 * 256
				}
				now[i] = uint16(max(0, min(65535, level)))
				if abs32(int32(now[i])-int32(v)) > d.contrast {
					d.flags[i], d.solid[i] = cellFore|cellMoved, 1
				}
			}
			objects := d.find(now, background, plane.Same, 6)
			require.NotEmpty(t, objects, name)
			largest := objects[0]
			for _, o := range objects {
				if o.Cells > largest.Cells {
					largest = o
				}
			}
			require.Greater(t, largest.Cells, 1500, name)
			require.Equal(t, somebody, !largest.Light, "%s, somebody is there: %v; substance %.2f", name, somebody,
				largest.Substance())
		}
	}
}
