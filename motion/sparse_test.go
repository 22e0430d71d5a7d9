package motion

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/motion/area"
	"vmsbridge/motion/plane"
)

// Loops that pass over what is empty, or end as soon as they know, beside plain ones over all
// cells.

// littered returns a detector for an odd number of cells, of which some are solid and differ, in
// areas that are brighter or darker, and the newest picture. It has no history.
func littered(t *testing.T, r *rand.Rand) (*Detector, []uint16) {
	d, err := New(Config{})
	require.NoError(t, err)
	w, h := 1+r.IntN(120), 1+r.IntN(90)
	d.resize(w, h)
	now := make([]uint16, w*h)
	some, rise := 1+r.IntN(6), r.IntN(60_000)-30_000
	for i := range now {
		d.model.background[i] = uint16(r.UintN(65281))
		d.model.noise[i] = uint16(r.UintN(2000))
		d.habit.memory[i] = uint8(r.UintN(256))
		now[i] = uint16(max(0, min(65280, int(d.model.background[i])+rise+r.IntN(20_000)-10_000)))
		if r.IntN(60) == 0 {
			d.model.parked[i] = uint8(r.UintN(5))
		}
		if (i%w/9+i/w/7)%some == 0 && r.IntN(4) > 0 {
			d.flags[i], d.solid[i] = byte(r.UintN(4)), byte(r.UintN(2))
		}
	}
	return d, now
}

// blursPlain is blurs for all cells of every second row.
func blursPlain(d *Detector, now []uint16) bool {
	const r = focusReach
	w, h, b := d.grid.width, d.grid.height, d.model.background
	all, softer, sharper := 0, 0, 0
	for y := r; y < h-r; y += 2 {
		for x := r; x < w-r; x++ {
			i := y*w + x
			if d.solid[i] == 0 || d.flags[i]&cellFore == 0 {
				continue
			}
			all++
			brighter := now[i] > b[i]
			if (int(b[i-r])+int(b[i+r])+int(b[i-r*w])+int(b[i+r*w]) > 4*int(b[i])) == brighter {
				softer++
			}
			if (int(now[i-r])+int(now[i+r])+int(now[i-r*w])+int(now[i+r*w]) > 4*int(now[i])) != brighter {
				sharper++
			}
		}
	}
	if n := float64(all); 2*all < focusCells {
		return false
	} else if float64(softer) >= focusShare*n && float64(sharper) <= focusOther*n {
		d.softAt = d.at
		return true
	} else {
		return d.softAt > 0 && d.at-d.softAt <= focusReturns && float64(sharper) >= focusShare*n &&
			float64(softer) <= focusOther*n
	}
}

func TestBlursIsPlain(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 1))
	found := map[bool]int{}
	for range 400 {
		d, now := littered(t, r)
		at := func(x, y int) int {
			return max(0, min(d.grid.height-1, y))*d.grid.width + max(0, min(d.grid.width-1, x))
		}
		blurred, from := make([]uint16, len(now)), d.model.background
		for i := range blurred {
			x, y := i%d.grid.width, i/d.grid.width
			blurred[i] = uint16((12*int(from[i]) + int(from[at(x-2, y)]) + int(from[at(x+2, y)]) +
				int(from[at(x, y-2)]) + int(from[at(x, y+2)])) / 16)
		}
		d.at = 10 * time.Second
		switch r.IntN(3) {
		case 0:
			now = blurred
		case 1:
			now, d.model.background = from, blurred
			d.softAt = time.Duration(r.IntN(10)) * time.Second
		}
		d.squares()
		was := d.softAt
		got, soft := d.blurs(now), d.softAt
		d.softAt = was
		require.Equal(t, blursPlain(d, now), got)
		require.Equal(t, d.softAt, soft)
		found[got]++
	}
	require.Greater(t, found[true], 20)
	require.Greater(t, found[false], 100)
}

func TestOutstandingIsPlain(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for range 300 {
		d, now := littered(t, r)
		d.finder.Label(d.solid, d.model.parked)
		v := d.views(now, now, now, plane.Same, plane.Same)
		objects := d.finder.Collect(&v, 1)
		for j := range objects {
			o := &objects[j]
			differs, brighter, limit := int64(0), int64(0), int64(0)
			want, got := make([]byte, len(now)), make([]byte, len(now))
			for i, is := range now {
				if d.solid[i] == 0 || d.flags[i]&cellFore == 0 || d.finder.Of(i%d.grid.width, i/d.grid.width) != j {
					continue
				}
				want[i] = cellFore
				rise := int64(is) - int64(d.model.background[i])
				differs, brighter, limit = differs+max(rise, -rise), brighter+max(0, rise),
					limit+int64(threshold(d.contrast, d.doubt[i]))
			}
			d.outstanding(j, o.Whole, got)
			require.Equal(t, want, got)
			require.Equal(t, []int64{differs, brighter, limit}, []int64{o.Differs, o.Brighter, o.ForeLimit})
		}
	}
}

func TestHoldIsPlain(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 3))
	for range 300 {
		d, now := littered(t, r)
		d.finder.Label(d.solid, d.model.parked)
		v := d.views(now, now, now, plane.Same, plane.Same)
		var marks [area.Most]byte
		for j := range d.finder.Collect(&v, 1) {
			marks[j] = byte(r.UintN(3))
		}
		want := make([]byte, len(now))
		for i := range want {
			if d.solid[i] == 0 || d.habit.memory[i] >= restlessAt {
				continue
			}
			if j := d.finder.Of(i%d.grid.width, i/d.grid.width); j >= 0 {
				want[i] = marks[j]
			}
		}
		d.turn = r.IntN(2)
		from, to := d.half()
		clear(want[:from])
		clear(want[to:])
		d.hold(&marks)
		require.Equal(t, want, d.held)
	}
}
