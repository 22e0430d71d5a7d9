package motion_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/motion"
)

// FuzzStep feeds pictures of any content, size and time. Each command takes three bytes: what to
// draw, where, and how much time passes.
func FuzzStep(f *testing.F) {
	f.Add(byte(20), byte(12), []byte{})
	f.Add(byte(20), byte(12), []byte("aaabbbcccdddeeefffggghhhiiijjjkkklllmmmnnnooopppqqqrrrssstttuuuvvvwwwxxxyyyzzz"))
	walk := []byte{}
	for i := range 200 {
		walk = append(walk, byte(i%3), byte(i), 100)
	}
	f.Add(byte(40), byte(30), walk)
	f.Add(byte(1), byte(1), walk)
	f.Add(byte(255), byte(3), append(append([]byte{250, 3, 3}, walk...), 251, 9, 9, 252, 1, 200, 253, 2, 2, 254, 0, 0))
	f.Fuzz(func(t *testing.T, width, height byte, commands []byte) {
		d, err := motion.New(motion.Config{
			QuietPeriod: 700 * time.Millisecond, MaxDuration: 3 * time.Second,
			Regions: []motion.Region{{ID: "left", Area: leftHalf}, {ID: "right", Area: rightHalf, Sensitivity: 1}},
			Masks:   []motion.Polygon{{{0, 0}, {0.1, 0}, {0, 0.1}}},
		})
		require.NoError(t, err)
		w, h := int(width)+1, int(height)+1
		at, newest := epoch, epoch
		open := map[string]motion.Change{}
		last := map[string]time.Time{}
		check := func(changes []motion.Change) {
			for _, c := range changes {
				require.False(t, c.Last.Before(c.Start), "it ends before it starts: %+v", c)
				require.LessOrEqual(t, len(c.Boxes), 8)
				for _, b := range c.Boxes {
					require.True(t, b.Left >= 0 && b.Top >= 0 && b.Right <= 1 && b.Bottom <= 1 && b.Left < b.Right &&
						b.Top < b.Bottom, "%+v", b)
				}
				began, isOpen := open[c.Region]
				switch c.Kind {
				case motion.Began:
					require.False(t, isOpen, "it began twice: %+v", c)
					if before, ok := last[c.Region]; ok {
						require.True(t, c.Start.After(before),
							"it overlaps the one before, which ended at %v: %+v, picture at %v", before, c, at)
					}
					open[c.Region] = c
				case motion.Ended:
					require.True(t, isOpen, "it ended without a begin: %+v", c)
					require.True(t, began.Start.Equal(c.Start))
					require.Equal(t, began.Object, c.Object)
					delete(open, c.Region)
					last[c.Region] = c.Last
				default:
					t.Fatalf("unknown kind: %+v", c)
				}
			}
		}
		luma := make([]byte, 256*256)
		for i := 0; i+2 < len(commands) && i < 3*400; i += 3 {
			draw, where, pass := commands[i], commands[i+1], commands[i+2]
			switch draw {
			case 250: // the clock is set back
				at = at.Add(-time.Duration(where) * time.Minute)
			case 251:
				at = at.Add(time.Duration(where) * time.Hour)
			case 252:
				w, h = int(where)+1, int(pass)+1
			case 253:
				check(d.Gap())
			case 254: // late, or at the same time
				at = at.Add(-time.Duration(where) * time.Millisecond)
			default:
				for k := range luma[:w*h] {
					x, y := k%w, k/w
					v := byte(x*3 + y*5)
					if dx := x - int(where)*w/256; dx >= 0 && dx < 1+w/5 && draw%3 != 2 {
						v = 255 - v + draw
					}
					luma[k] = v
				}
			}
			at = at.Add(time.Duration(pass) * time.Millisecond)
			// A step backwards; less than that is a late picture.
			back := at.Sub(newest) <= -time.Second
			if back || at.After(newest) {
				newest = at
			}
			r := d.Step(motion.Picture{Luma: luma, Width: w, Height: h, Stride: w, Time: at})
			check(r.Changes) // may still bring the ends in the clock before
			if back {
				clear(last)
			}
			require.Equal(t, len(open) > 0, r.Moving)
			require.True(t, r.Activity.Share >= 0 && r.Activity.Share <= 1)
		}
		check(d.Gap())
		require.Empty(t, open)
	})
}
