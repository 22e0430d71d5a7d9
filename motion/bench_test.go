//go:build linux

package motion

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// Run with: go test ./motion -bench . -run '^$' -count 6 | benchstat -
// The table of motion/BENCH.md comes from: scripts/bench motion

// picturesDir is the environment variable with the folder into which the benchmarks write their
// pictures, for others that look at the same ones.
const picturesDir = "VMSBRIDGE_BENCH_PICTURES"

// filmed are the scenes of the benchmarks: a textured wall with sensor noise, people who walk to
// and fro in front of it, and a lamp that swings.
var filmed = []struct {
	name   string
	people int
	lamp   bool
}{{name: "quiet"}, {name: "person", people: 1}, {name: "crowd", people: 8},
	{name: "lamp+person", people: 1, lamp: true}}

// film draws 64 pictures of a scene, of which the first follows the last.
func film(width, height, people int, lamp bool) []Picture {
	r := rand.New(rand.NewPCG(1, 2))
	wall, noise := make([]float64, width*height), make([]float64, 1<<16)
	for i := range wall {
		u, v := float64(i%width)/float64(width), float64(i/width)/float64(height)
		wall[i] = 90 + 20*float64(int(40*u)%2) + 30*float64(int(11*v)%2) + 8*math.Sin(60*u*v)
	}
	for i := range noise {
		noise[i] = r.NormFloat64() * 2
	}
	pictures := make([]Picture, 64)
	for k := range pictures {
		turn := 2 * math.Pi * float64(k) / float64(len(pictures))
		scene := append([]float64{}, wall...)
		for j := range people {
			// A person is as high as a third of the picture, an eighth with more people.
			size := float64(height) / 3
			if people > 1 {
				size = float64(height) / 8
			}
			left := int(float64(width) * (0.45 - 0.4*math.Cos(turn+0.7*float64(j))))
			top := int(float64(height)/4 + float64(j)*size*0.7)
			for y := top; y < min(height, top+int(size)); y++ {
				for x := left; x < min(width, left+int(size/2.5)); x++ {
					scene[y*width+x] = 30 + float64(x-left)*60/size
				}
			}
		}
		gain := 1.0
		if lamp {
			gain = 1 + 0.25*math.Sin(3*turn)
		}
		luma, n := make([]byte, width*height), r.IntN(len(noise))
		for i, v := range scene {
			luma[i] = byte(max(0, min(255, v*gain+noise[(n+i)%len(noise)])))
			if i%512 == 0 {
				n = r.IntN(len(noise))
			}
		}
		pictures[k] = Picture{Luma: luma, Width: width, Height: height, Stride: width}
	}
	return pictures
}

// save writes the planes one after another into a file for others, if they asked for it.
func save(b *testing.B, name string, pictures []Picture) {
	dir := os.Getenv(picturesDir)
	if dir == "" {
		return
	}
	var all []byte
	for _, p := range pictures {
		all = append(all, p.Luma...)
	}
	require.NoError(b, os.WriteFile(filepath.Join(dir, name), all, 0o644))
}

// processor is the time that the processor spent on this process: what else the machine does counts
// less than on the clock.
func processor(b *testing.B) time.Duration {
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// each runs f over and over, and reports the processor's time for one and for a cell.
func each(b *testing.B, name string, bytes, cells int, f func(i int)) {
	b.Run(name, func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(bytes))
		i, began := 0, processor(b)
		for b.Loop() {
			f(i)
			i++
		}
		spent := float64(processor(b)-began) / float64(i)
		b.ReportMetric(spent, "cpu-ns/op")
		b.ReportMetric(spent/float64(cells), "cpu-ns/cell")
	})
}

var benchSizes = [][2]int{{320, 180}, {264, 216}, {640, 360}}

// onThread is the processor's time that the calling thread has taken. The goroutine must be locked
// to it.
func onThread(b *testing.B) time.Duration {
	var t unix.Timespec
	require.NoError(b, unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t))
	return time.Duration(t.Nano())
}

// amid runs f over and over, with something else in between that is not counted.
func amid(b *testing.B, name string, cells int, f, other func(i int)) {
	b.Run(name, func(b *testing.B) {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		const looks = 10_000
		began := onThread(b)
		for range looks {
			onThread(b)
		}
		look := (onThread(b) - began) / (looks + 1) // the clock's own time
		i, spent := 0, time.Duration(0)
		for b.Loop() {
			other(i)
			began := onThread(b)
			f(i)
			spent += onThread(b) - began - look
			i++
		}
		b.ReportMetric(float64(spent)/float64(i), "cpu-ns/op")
		b.ReportMetric(float64(spent)/float64(i)/float64(cells), "cpu-ns/cell")
	})
}

// BenchmarkPlane is what only reading the plane takes: copying it, and reducing it to cells. The
// pictures are those of BenchmarkStep, and the same detector is at work between two of them: when
// the film comes round much of it is in no cache any more.
func BenchmarkPlane(b *testing.B) {
	for _, scene := range filmed {
		for _, size := range benchSizes {
			g, pictures := newGrid(size[0], size[1]), film(size[0], size[1], scene.people, scene.lamp)
			to, cells := make([]byte, size[0]*size[1]), make([]uint16, g.cells())
			step := stepper(b, pictures)
			name := fmt.Sprintf("scene=%s/size=%dx%d", scene.name, size[0], size[1])
			amid(b, "do=memcpy/"+name, len(cells), func(i int) { copy(to, pictures[i%len(pictures)].Luma) }, step)
			amid(b, "do=cells/"+name, len(cells), func(i int) { g.reduce(pictures[i%len(pictures)], cells) }, step)
		}
	}
}

// stepper returns a function that gives the picture before number i of a film to a detector, which
// has seen the film twice.
func stepper(b *testing.B, pictures []Picture) func(i int) {
	d, err := New(Config{})
	require.NoError(b, err)
	at := time.Unix(0, 0)
	step := func(i int) {
		at = at.Add(100 * time.Millisecond)
		p := pictures[(i+len(pictures)-1)%len(pictures)]
		p.Time = at
		d.Step(p)
	}
	for i := range 2 * len(pictures) {
		step(i)
	}
	return step
}

// BenchmarkStep is the whole detector.
func BenchmarkStep(b *testing.B) {
	for _, scene := range filmed {
		for _, size := range benchSizes {
			pictures := film(size[0], size[1], scene.people, scene.lamp)
			save(b, fmt.Sprintf("%s-%dx%d.gray", scene.name, size[0], size[1]), pictures)
			step := stepper(b, pictures)
			each(b, fmt.Sprintf("scene=%s/size=%dx%d", scene.name, size[0], size[1]), size[0]*size[1],
				newGrid(size[0], size[1]).cells(), step)
		}
	}
}
