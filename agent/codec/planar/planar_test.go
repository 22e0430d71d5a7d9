package planar

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// noise is a plane of random samples with a padded stride.
func noise(seed uint64, w, h, padding int) Plane {
	r := rand.New(rand.NewPCG(seed, 1))
	p := Plane{Pix: make([]byte, (w+padding)*h), Stride: w + padding, Width: w, Height: h}
	for i := range p.Pix {
		p.Pix[i] = byte(r.Uint32())
	}
	return p
}

// guarded is an empty plane within bytes that nothing may change.
func guarded(w, h int) (p Plane, intact func() bool) {
	const guard = 32
	all := make([]byte, guard+(w+3)*h+guard)
	for i := range all {
		all[i] = 0xa5
	}
	p = Plane{Pix: all[guard : len(all)-guard], Stride: w + 3, Width: w, Height: h}
	return p, func() bool {
		for i, v := range all {
			at := i - guard
			inside := at >= 0 && at < (w+3)*h && at%(w+3) < w
			if !inside && v != 0xa5 {
				return false
			}
		}
		return true
	}
}

func requireSame(t require.TestingT, src Plane, w, h int) {
	want := NewPlane(w, h)
	reduceReference(want, src)
	got, intact := guarded(w, h)
	reduce(got, src)
	require.True(t, intact(), "%dx%d to %dx%d wrote outside", src.Width, src.Height, w, h)
	for y := range h {
		require.Equal(t, want.Pix[y*w:][:w], got.Pix[y*got.Stride:][:w], "%dx%d to %dx%d, row %d", src.Width,
			src.Height, w, h, y)
	}
}

func TestReduceIsReference(t *testing.T) {
	for _, c := range []struct{ W, H, w, h int }{
		{640, 360, 320, 180}, {1280, 720, 320, 180}, {1920, 1080, 320, 180}, {960, 540, 320, 180}, {2560, 1440, 320,
			180},
		{704, 576, 265, 217}, {352, 288, 265, 217}, {26, 10, 13, 5}, {18, 6, 3, 1}, {12, 12, 1, 1}, {1, 1, 1, 1}, {3, 3,
			3, 3},
		{17, 9, 16, 9}, {65, 1, 64, 1}, {1, 65, 1, 2}, {512, 256, 2, 1}, {516, 260, 2, 1}, {16, 8, 40, 8}, {5, 5, 7, 9},
	} {
		requireSame(t, noise(7, c.W, c.H, 5), c.w, c.h)
	}
	bright := noise(1, 256*3, 256*2, 0)
	for i := range bright.Pix {
		bright.Pix[i] = 255 // the largest sums
	}
	requireSame(t, bright, 6, 4)
	requireSame(t, bright, 3, 2)
	requireSame(t, bright, 768/3, 512/2)
}

func TestReduceIsReferenceAnywhere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 40).Draw(t, "w"), rapid.IntRange(1, 24).Draw(t, "h")
		W, H := rapid.IntRange(1, 90).Draw(t, "W"), rapid.IntRange(1, 60).Draw(t, "H")
		if rapid.Bool().Draw(t, "whole") {
			k := rapid.IntRange(1, 9).Draw(t, "k")
			W, H = w*k, h*k
		}
		requireSame(t, noise(rapid.Uint64().Draw(t, "seed"), W, H, rapid.IntRange(0, 9).Draw(t, "padding")), w, h)
	})
}

// The reference itself: an average that can be done by hand.
func TestReduceReference(t *testing.T) {
	src := Plane{Pix: []byte{0, 30, 60, 90, 120, 150}, Stride: 3, Width: 3, Height: 2}
	dst := NewPlane(2, 1)
	reduceReference(dst, src)
	// Left: columns 0 and half of 1: ((0+90)*1 + (30+120)*0.5) / (2*1.5) = 55; right: (60+150 + 75)
	// / 3 = 95.
	require.Equal(t, []byte{55, 95}, dst.Pix)
}

func TestFit(t *testing.T) {
	for _, c := range []struct{ W, H, limit, w, h int }{
		{640, 360, 57_600, 320, 180}, {1920, 1080, 57_600, 320, 180}, {3840, 2160, 57_600, 320, 180}, {320, 180, 57_600,
			320, 180},
		{160, 120, 57_600, 160, 120}, {640, 480, 57_600, 276, 207}, {60_000, 2, 100, 100, 1}, {1, 5000, 100, 1,
			100}, {10, 10, 1, 1, 1},
	} {
		w, h := Fit(c.W, c.H, c.limit)
		require.Equal(t, []int{c.w, c.h}, []int{w, h}, "%dx%d", c.W, c.H)
	}
	rapid.Check(t, func(t *rapid.T) {
		W, H := rapid.IntRange(1, 65_535).Draw(t, "W"), rapid.IntRange(1, 65_535).Draw(t, "H")
		limit := rapid.IntRange(1, 1<<21).Draw(t, "limit")
		w, h := Fit(W, H, limit)
		require.True(t, w >= 1 && h >= 1 && w <= W && h <= H, "%dx%d", w, h)
		require.LessOrEqual(t, w*h, limit)
		if w > 20 && h > 20 {
			require.InEpsilon(t, float64(W)/float64(H), float64(w)/float64(h), 0.06)
			require.Greater(t, float64((w+1)*(h+1)*11/10+1), float64(min(limit, W*H)), "needlessly small")
		}
	})
}

func TestFitWidth(t *testing.T) {
	for _, c := range []struct{ W, H, limit, w, h int }{
		{1920, 1080, 640, 640, 360}, {640, 360, 0, 640, 360}, {640, 360, 640, 640, 360}, {320, 180, 640, 320, 180},
		{2592, 1944, 640, 640, 480}, {10_000, 3, 100, 100, 1}, {5, 3, 1, 1, 1},
	} {
		w, h := FitWidth(c.W, c.H, c.limit)
		require.Equal(t, []int{c.w, c.h}, []int{w, h}, "%dx%d to %d", c.W, c.H, c.limit)
	}
}

func TestRange(t *testing.T) {
	for in, want := range map[byte]byte{0: 0, 16: 0, 17: 1, 126: 128, 235: 255, 255: 255} {
		require.Equal(t, want, expandLuma[in], "luma %d", in)
	}
	for in, want := range map[byte]byte{0: 0, 16: 0, 128: 128, 240: 255, 129: 129, 127: 127, 255: 255} {
		require.Equal(t, want, expandChroma[in], "chroma %d", in)
	}
}

func TestLumaOfTenBits(t *testing.T) {
	wide := Plane{Stride: 8, Width: 4, Height: 2, Bits: 10}
	for _, v := range []int{0, 64, 512, 1023, 4, 8, 12, 940} {
		wide.Pix = append(wide.Pix, byte(v), byte(v>>8))
	}
	m := Image{Width: 4, Height: 2, Y: wide, FullRange: true}
	require.NoError(t, m.Check())
	require.Equal(t, []byte{0, 16, 128, 255, 1, 2, 3, 235}, Luma(m, 4, 2))
	m.FullRange = false
	require.Equal(t, []byte{0, 0, 130, 255, 0, 0, 0, 255}, Luma(m, 4, 2))
}

func TestCheckFindsPlanesThatDoNotFit(t *testing.T) {
	good := func() Image {
		return Image{Width: 5, Height: 4, Y: NewPlane(5, 4), Cb: NewPlane(3, 2), Cr: NewPlane(3, 2)}
	}
	require.NoError(t, good().Check())
	for name, spoil := range map[string]func(m *Image){
		"no size":         func(m *Image) { m.Width = 0 },
		"too many pixels": func(m *Image) { m.Width, m.Height = 65_535, 65_535 },
		"other luma size": func(m *Image) { m.Y.Width = 4 },
		"short luma":      func(m *Image) { m.Y.Pix = m.Y.Pix[:19] },
		"short stride":    func(m *Image) { m.Y.Stride = 4 },
		"short chroma":    func(m *Image) { m.Cr.Pix = m.Cr.Pix[:5] },
		"ten bits":        func(m *Image) { m.Y.Bits = 10 },
		"wide step":       func(m *Image) { m.Cb.Step = 2 },
		"no chroma rows":  func(m *Image) { m.Cb.Height = 0 },
	} {
		m := good()
		spoil(&m)
		require.Error(t, m.Check(), name)
	}
}

func TestYCbCr420(t *testing.T) {
	for _, size := range [][4]int{{48, 32, 48, 32}, {47, 31, 47, 31}, {101, 57, 33, 19}, {1, 1, 1, 1},
		{64, 64, 17, 16}} {
		W, H, w, h := size[0], size[1], size[2], size[3]
		// 4:2:2
		m := Image{Width: W, Height: H, FullRange: true, Y: noise(1, W, H, 3), Cb: noise(2, (W+1)/2, H, 0),
			Cr: noise(3, (W+1)/2, H, 1)}
		room := bytes.Repeat([]byte{0xa5}, 6000) // enough for some of them: what was in there does not show
		out := YCbCr420In(&room, m, w, h)
		require.Same(t, &room[0], &out.Y[0])
		cw, ch := (w+1)/2, (h+1)/2
		for _, c := range []struct {
			pix    []byte
			stride int
			src    Plane
			w, h   int
		}{{out.Y, out.YStride, m.Y, w, h}, {out.Cb, out.CStride, m.Cb, cw, ch}, {out.Cr, out.CStride, m.Cr, cw, ch}} {
			want := NewPlane(c.w, c.h)
			reduceReference(want, c.src)
			rows := len(c.pix) / c.stride
			require.GreaterOrEqual(t, rows, (c.h+15)/16*16+16, "libjpeg reads that far")
			require.GreaterOrEqual(t, c.stride, (c.w+15)/16*16+16)
			require.Zero(t, c.stride%16)
			for y := range rows {
				for x := range c.stride {
					require.Equal(t, want.Pix[min(y, c.h-1)*c.w+min(x, c.w-1)], c.pix[y*c.stride+x], "size %v at %d,%d",
						size, x, y)
				}
			}
		}
	}
}

func TestYCbCr420OfGrayAndPairs(t *testing.T) {
	gray := YCbCr420(Image{Width: 20, Height: 20, Y: noise(1, 20, 20, 0)}, 20, 20)
	require.Equal(t, byte(128), gray.Cb[0])
	require.Equal(t, byte(128), gray.Cr[len(gray.Cr)-1])
	pairs := []byte{16, 240, 128, 127} // Cb Cr Cb Cr
	m := Image{Width: 4, Height: 2, Y: NewPlane(4, 2),
		Cb: Plane{Pix: pairs, Stride: 4, Width: 2, Height: 1, Step: 2},
		Cr: Plane{Pix: pairs[1:], Stride: 4, Width: 2, Height: 1, Step: 2}}
	require.NoError(t, m.Check())
	out := YCbCr420(m, 4, 2)
	require.Equal(t, []byte{0, 128}, out.Cb[:2])
	require.Equal(t, []byte{255, 127}, out.Cr[:2])
}

// go test -bench Reduce ./agent/codec/planar
func BenchmarkReduce(b *testing.B) {
	for _, c := range []struct {
		name       string
		W, H, w, h int
	}{
		{"640x360", 640, 360, 320, 180}, {"704x576", 704, 576, 265, 217}, {"960x540", 960, 540, 320, 180},
		{"1280x720", 1280, 720, 320, 180}, {"1920x1080", 1920, 1080, 320, 180}, {"3840x2160", 3840, 2160, 320, 180},
	} {
		src, dst := noise(1, c.W, c.H, 64), NewPlane(c.w, c.h)
		for name, f := range map[string]func(dst, src Plane){"reference": reduceReference, "rows": reduceAny,
			"fast": reduce} {
			if name == "reference" && c.W > 1000 {
				continue
			}
			b.Run("impl="+name+"/size="+c.name, func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(c.W * c.H))
				for b.Loop() {
					f(dst, src)
				}
			})
		}
	}
}
