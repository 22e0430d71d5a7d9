//go:build unix

package plane

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// processor is the time that the processor spent on this process: what else the machine does counts
// less than on the clock.
func processor(b *testing.B) time.Duration {
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Run with: go test ./motion/plane -bench . -run '^$' -count 6 | benchstat -
//
// The table of the loops over pixels and cells: the plain reference beside the version that is
// used, for a picture of 160x90 cells.
func BenchmarkLoop(b *testing.B) {
	const width, height, cells = 160, 90, 160 * 90
	r := rand.New(rand.NewPCG(1, 2))
	luma, copied := make([]byte, 16*cells), make([]byte, 16*cells)
	for i := range luma {
		luma[i] = byte(100 + r.IntN(9))
	}
	now, before, out := make([]uint16, cells), make([]uint16, cells), make([]uint16, cells)
	for i := range now {
		before[i] = uint16(100<<8 + r.IntN(900))
		now[i] = uint16(int(before[i]) + r.IntN(600) - 300)
	}
	m := Memory{append([]uint16{}, before...), make([]uint16, cells), make([]uint16, cells), make([]uint16, cells),
		make([]uint8, cells)}
	flags, solid, held, mask := make([]byte, cells), make([]byte, cells), make([]byte, cells), make([]byte, cells)
	some := make([]byte, cells)
	for i := range mask {
		mask[i] = 255
		if r.IntN(50) == 0 {
			some[i] = Fore
		}
	}
	person := make([]byte, cells)
	for y := 20; y < 60; y++ {
		for x := 50; x < 70; x++ {
			person[y*width+x] = Fore | Moved
		}
	}
	body := make([]byte, cells)
	for i, f := range person {
		body[i] = f & 1
	}
	light := Exposure{Gain: GainOne + 20, Offset: 100}
	pace := Pace{Background: 3276, Up: 2621, Down: 655, Absorb: 59_999, NoiseCap: 2304, TwigCap: 11520, Ms: 100}
	var d Despeckler
	d.Resize(width, height)
	run := func(do, impl string, bytes, count int, f func()) {
		b.Run(fmt.Sprintf("do=%s/impl=%s", do, impl), func(b *testing.B) {
			b.SetBytes(int64(bytes))
			b.ReportAllocs()
			began := processor(b)
			for b.Loop() {
				f()
			}
			spent := float64(processor(b)-began) / float64(b.N)
			b.ReportMetric(spent, "cpu-ns/op")
			b.ReportMetric(spent/float64(count), "cpu-ns/cell")
		})
	}
	for _, side := range []int{1, 2, 3, 4} {
		n := side * side * cells
		run(fmt.Sprintf("copy-%dx%d", side*width, side*height), "memcpy", n, cells, func() { copy(copied[:n], luma) })
		run(fmt.Sprintf("means-%dx%d", side*width, side*height), "plain", n, cells, func() {
			meansPlain(luma, side*width, side, width, height, out)
		})
		run(fmt.Sprintf("means-%dx%d", side*width, side*height), "fast", n, cells, func() {
			Means(luma, side*width, side, width, height, out)
		})
	}
	run("classify", "plain", 2*cells, cells, func() {
		classifyPlain(now, before, light, m.Background, m.Noise, 1536, flags)
	})
	run("classify", "fast", 2*cells, cells, func() { Classify(now, before, light, m.Background, m.Noise, 1536, flags) })
	clear(flags)
	run("learn-quiet", "plain", 2*cells, cells, func() { learnPlain(now, before, light, flags, solid, held, m, pace) })
	run("learn-quiet", "fast", 2*cells, cells, func() { Learn(now, before, light, flags, solid, held, m, pace) })
	stands := m.clone()
	for i := range stands.Stay {
		stands.Stay[i] = 500
	}
	run("learn-person", "plain", 2*cells, cells, func() {
		learnPlain(now, before, light, person, body, held, stands, pace)
	})
	run("learn-person", "fast", 2*cells, cells, func() { Learn(now, before, light, person, body, held, stands, pace) })
	run("expose", "plain", 2*cells, cells, func() { exposePlain(out, light) })
	run("expose", "fast", 2*cells, cells, func() { Expose(out, light) })
	var sums Moments
	run("sum", "plain", 2*cells, cells, func() { sumPlain(before, now, light, 2560, &sums) })
	run("sum", "fast", 2*cells, cells, func() { sums = Sum(before, now, light, 2560) })
	for _, c := range []struct {
		name  string
		flags []byte
	}{{"quiet", flags}, {"specks", some}, {"person", person}} {
		run("despeckle-"+c.name, "plain", cells, cells, func() { despecklePlain(c.flags, mask, width, height, solid) })
		run("despeckle-"+c.name, "fast", cells, cells, func() { d.Run(c.flags, mask, solid) })
	}
	v := Views{Now: now, Before: before, Blink: before, Background: m.Background, Noise: m.Noise, Stay: m.Stay,
		Parked: m.Parked, Worn: m.Parked, Flags: person, Solid: body, Width: width, Height: height,
		Light: light, BlinkLight: light, Contrast: 1536, Young: 1500}
	var total Sums
	rows := func(f func(v *Views, x, y, n int, s *Sums)) func() {
		return func() {
			for y := 20; y < 60; y++ {
				f(&v, 50, y, 20, &total)
			}
			total.Reset()
		}
	}
	run("smooth", "plain", 2*cells, cells, func() { smoothPlain(out, before, now, before) })
	run("smooth", "fast", 2*cells, cells, func() { Smooth(out, before, now, before) })
	run("share", "plain", 2*cells, cells, func() { sharePlain(out, now, 45824) })
	run("share", "fast", 2*cells, cells, func() { Share(out, now, 45824) })
	set, stood := make([]uint64, 2*height/2), make([]uint64, 2*height/2)
	run("measure-person", "plain", 800, 800, rows(measurePlain))
	run("measure-person", "fast", 800, 800, rows(Measure))
	run("trace-person", "plain", 800, 800, rows(tracePlain))
	run("trace-person", "fast", 800, 800, rows(Trace))
	run("survey-person", "plain", 800, 800, rows(func(v *Views, x, y, n int, s *Sums) {
		measurePlain(v, x, y, n, s)
		tracePlain(v, x, y, n, s)
	}))
	run("survey-person", "fast", 800, 800, func() {
		for y := 20; y < 60; y += 2 {
			Survey(&v, 50, y, 20, &total)
		}
		total.Reset()
	})
	points, slopes := make([]Point, 320), Slopes{}
	for i := range points {
		points[i] = Point{int32(now[i]) - int32(before[i]), int32(now[i]), int32(now[2*i]) - 30_000,
			int32(now[3*i]) - 30_000}
	}
	run("slopes", "plain", 16*len(points), len(points), func() { slopes = Slopes{}; slopesPlain(points, &slopes) })
	run("slopes", "fast", 16*len(points), len(points), func() { slopes = SumSlopes(points) })
	run("tiles", "plain", cells, cells, func() { tilesPlain(body, m.Parked, width, height, set, stood) })
	run("tiles", "fast", cells, cells, func() { Tiles(body, m.Parked, width, height, set, stood) })
	at, picked := make([]int32, cells/15), make([]uint16, cells/15)
	for k := range at {
		at[k] = int32(15 * k)
	}
	run("pick", "plain", 2*len(at), len(at), func() { pickPlain(now, at, picked) })
	run("pick", "fast", 2*len(at), len(at), func() { Pick(now, at, picked) })
	run("flagged", "plain", len(at), len(at), func() { flaggedPlain(person, at, Fore|Moved, picked) })
	run("flagged", "fast", len(at), len(at), func() { Flagged(person, at, Fore|Moved, picked) })
	_, all := Blocks(width, height)
	blocks := make([]Block, all)
	run("count-blocks", "plain", cells, cells, func() {
		for i := range all {
			at := i/20*8*width + i%20*8
			blocks[i] = blockPlain(person[at:], body[at:], width, 8, min(8, height-i/20*8))
		}
	})
	run("count-blocks", "fast", cells, cells, func() { CountSolid(person, body, width, height, blocks) })
	run("count-down", "plain", cells, cells, func() { countDownPlain(held) })
	run("count-down", "fast", cells, cells, func() { CountDown(held) })
	worn := make([]byte, cells)
	run("wear", "plain", cells, cells, func() { wearPlain(worn, person, held, 6, 1) })
	run("wear", "fast", cells, cells, func() { Wear(worn, person, held, 6, 1) })
}
