//go:build cgo && (amd64 || arm64)

package steady

import (
	"bytes"
	"image"
	"math/rand/v2"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"vmsbridge/agent/codec/planar"
)

// requireLuma compares with what the loop in Go answers, and looks for bytes written elsewhere.
func requireLuma(t rapid.TB, seed uint64, w, h, width, height, padding int, full bool) {
	r := rand.New(rand.NewPCG(seed, 1))
	p := planar.Plane{Pix: make([]byte, (width+padding)*height), Stride: width + padding, Width: width, Height: height}
	for i := range p.Pix {
		p.Pix[i] = byte(r.Uint32())
	}
	want := planar.Luma(planar.Image{Width: width, Height: height, Y: p, FullRange: full}, w, h)
	const guard = 64
	got := bytes.Repeat([]byte{0xa5}, w*h+2*guard)
	if !reduce(got[guard:], w, h, p.Pix, p.Stride, width, height, full) {
		t.Fatalf("%dx%d to %dx%d was not done", width, height, w, h)
	}
	if !bytes.Equal(want, got[guard:guard+w*h]) {
		t.Fatalf("%dx%d to %dx%d, full range %v: another luma than in Go", width, height, w, h, full)
	}
	edge := bytes.Repeat([]byte{0xa5}, guard)
	if !bytes.Equal(edge, got[:guard]) || !bytes.Equal(edge, got[guard+w*h:]) {
		t.Fatalf("%dx%d to %dx%d wrote outside", width, height, w, h)
	}
}

func TestLumaIsThatOfGo(t *testing.T) {
	for _, c := range [][4]int{{640, 360, 320, 180}, {1280, 720, 320, 180}, {1920, 1080, 320, 180},
		{960, 540, 320, 180}, {704, 576, 265, 217}, {352, 288, 265, 217}, {640, 480, 276, 207}, {320, 180, 320, 180},
		{17, 9, 16, 9}, {1, 1, 1, 1}, {512, 256, 2, 1}, {516, 260, 2, 1}, {2592, 1944, 276, 207}} {
		requireLuma(t, 7, c[2], c[3], c[0], c[1], 32, false)
		requireLuma(t, 8, c[2], c[3], c[0], c[1], 0, true)
	}
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 40).Draw(t, "w"), rapid.IntRange(1, 24).Draw(t, "h")
		width, height := w+rapid.IntRange(0, 90).Draw(t, "more width"), h+rapid.IntRange(0, 60).Draw(t, "more height")
		if rapid.Bool().Draw(t, "whole") {
			k := rapid.IntRange(1, 9).Draw(t, "k")
			width, height = w*k, h*k
		}
		requireLuma(t, rapid.Uint64().Draw(t, "seed"), w, h, width, height, rapid.IntRange(0, 9).Draw(t, "padding"),
			rapid.Bool().Draw(t, "full"))
	})
}

func TestExpandIsThatOfGo(t *testing.T) {
	all := make([]byte, 256+3) // more than whole vectors
	for i := range all {
		all[i] = byte(i)
	}
	for n := range len(all) + 1 {
		want, got := ycbcr(all[:n]), ycbcr(all[:n])
		planar.Expand(want)
		Expand(got)
		if !reflect.DeepEqual(want, got) {
			t.Fatalf("%d samples: got %v, want %v", n, got, want)
		}
	}
}

func ycbcr(samples []byte) *image.YCbCr {
	return &image.YCbCr{Y: bytes.Clone(samples), Cb: bytes.Clone(samples), Cr: bytes.Clone(samples)}
}

// go test -bench Luma ./agent/codec/steady
func BenchmarkLuma(b *testing.B) {
	for _, c := range []struct {
		name                string
		width, height, w, h int
	}{{"640x360", 640, 360, 320, 180}, {"704x576", 704, 576, 265, 217}, {"1280x720", 1280, 720, 320, 180},
		{"1920x1080", 1920, 1080, 320, 180}} {
		src := planar.NewPlane(c.width, c.height)
		m := planar.Image{Width: c.width, Height: c.height, Y: src}
		out := make([]byte, c.w*c.h)
		b.Run("impl=go/size="+c.name, func(b *testing.B) {
			for b.Loop() {
				planar.Luma(m, c.w, c.h)
			}
		})
		b.Run("impl=c/size="+c.name, func(b *testing.B) {
			for b.Loop() {
				reduce(out, c.w, c.h, src.Pix, src.Stride, c.width, c.height, false)
			}
		})
	}
}
