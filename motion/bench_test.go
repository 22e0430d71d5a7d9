package motion

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// Run with: go test ./motion -bench . -run '^$' -count 6 | benchstat -

// noisy returns pictures of a textured scene with sensor noise, and a dark square of side pixels that walks through if side > 0.
func noisy(width, height, count, side int) []Picture {
	r := rand.New(rand.NewPCG(1, 2))
	scene := make([]int, width*height)
	for i := range scene {
		scene[i] = 90 + (i%width)/8%2*20 + (i/width)/16%2*30
	}
	pictures := make([]Picture, count)
	for k := range pictures {
		luma := make([]byte, width*height)
		left := k * width / count
		for i := range luma {
			v := scene[i]
			if x, y := i%width, i/width; side > 0 && x >= left && x < left+side && y >= height/4 && y < height/4+2*side {
				v = 30 + (x-left)*2
			}
			luma[i] = byte(max(0, min(255, v+int(r.NormFloat64()*2))))
		}
		pictures[k] = Picture{Luma: luma, Width: width, Height: height, Stride: width}
	}
	return pictures
}

func BenchmarkStep(b *testing.B) {
	for _, scene := range []struct {
		name string
		side int
	}{{"quiet", 0}, {"person", 28}} {
		for _, size := range [][2]int{{320, 180}, {264, 216}, {160, 90}} {
			b.Run(fmt.Sprintf("scene=%s/size=%dx%d", scene.name, size[0], size[1]), func(b *testing.B) {
				pictures := noisy(size[0], size[1], 64, scene.side)
				d, err := New(Config{})
				if err != nil {
					b.Fatal(err)
				}
				at := time.Unix(0, 0)
				for i := range 64 {
					at = at.Add(100 * time.Millisecond)
					p := pictures[i]
					p.Time = at
					d.Step(p)
				}
				b.ReportAllocs()
				b.SetBytes(int64(size[0] * size[1]))
				i := 0
				for b.Loop() {
					at = at.Add(100 * time.Millisecond)
					p := pictures[i%len(pictures)]
					p.Time = at
					d.Step(p)
					i++
				}
			})
		}
	}
}
