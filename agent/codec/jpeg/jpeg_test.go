package jpeg

import (
	"bytes"
	"fmt"
	"image"
	stdjpeg "image/jpeg"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/agent/codec/planar"
	"vmsbridge/agent/codec/testclip"
)

// implementations are all that this build and machine have.
func implementations(t testing.TB) map[string]implementation {
	all := map[string]implementation{"standard": standard{}}
	if impl := libjpeg(); impl != nil {
		all["libjpeg"] = impl
	}
	if impl, err := openTurbo(nil); err == nil {
		all["turbo"] = impl
	} else {
		t.Logf("libturbojpeg is not tested: %v (apt install libturbojpeg0)", err)
	}
	return all
}

func each(t *testing.T, f func(t *testing.T, c *Codec, name string)) {
	for name, impl := range implementations(t) {
		t.Run(name, func(t *testing.T) { f(t, &Codec{impl}, name) })
	}
}

// ramp is a picture whose every sample is known, in 4:2:0 and full range.
func ramp(w, h int) planar.Image {
	cw, ch := (w+1)/2, (h+1)/2
	m := planar.Image{Width: w, Height: h, FullRange: true, Y: planar.NewPlane(w, h), Cb: planar.NewPlane(cw, ch),
		Cr: planar.NewPlane(cw, ch)}
	for y := range h {
		for x := range w {
			m.Y.Pix[y*w+x] = byte(255 * (x + y) / (w + h))
		}
	}
	for y := range ch {
		for x := range cw {
			m.Cb.Pix[y*cw+x], m.Cr.Pix[y*cw+x] = testclip.Chroma(x, y, cw, ch)
		}
	}
	return m
}

func sample(p planar.Plane, x, y int) int { return int(p.Pix[y*p.Stride+x]) }

// requireClose compares all samples.
func requireClose(t *testing.T, want, got planar.Plane, delta int, what string) {
	t.Helper()
	require.Equal(t, []int{want.Width, want.Height}, []int{got.Width, got.Height}, what)
	for y := range want.Height {
		for x := range want.Width {
			if d := sample(want, x, y) - sample(got, x, y); d > delta || d < -delta {
				require.Failf(t, what, "at %d,%d: want %d, got %d", x, y, sample(want, x, y), sample(got, x, y))
			}
		}
	}
}

func TestEncodeThenDecode(t *testing.T) {
	each(t, func(t *testing.T, c *Codec, _ string) {
		for _, size := range [][2]int{{320, 180}, {321, 181}, {16, 16}, {17, 1}, {1, 1}, {8, 33}, {1920, 1080}} {
			src := ramp(size[0], size[1])
			data, err := c.Encode(planar.YCbCr420(src, size[0], size[1]), 95)
			require.NoError(t, err)
			for name, other := range implementations(t) {
				got, err := (&Codec{other}).Decode(data)
				require.NoError(t, err, name)
				what := fmt.Sprintf("%v by %s", size, name)
				require.True(t, got.FullRange)
				delta := 4
				if size[0] < 16 || size[1] < 16 {
					delta = 24 // a ramp over a few samples is an edge
				}
				requireClose(t, src.Y, got.Y, delta, what+" luma")
				requireClose(t, src.Cb, got.Cb, delta+2, what+" Cb")
				requireClose(t, src.Cr, got.Cr, delta+2, what+" Cr")
			}
		}
	})
}

// The lower and right edges of a picture whose size is no multiple of 16 must not take up colour
// from the padding.
func TestEncodeEdges(t *testing.T) {
	each(t, func(t *testing.T, c *Codec, _ string) {
		m := planar.Image{Width: 1928, Height: 1081, FullRange: true, Y: planar.NewPlane(1928, 1081),
			Cb: planar.NewPlane(964, 541), Cr: planar.NewPlane(964, 541)}
		for _, p := range []planar.Plane{m.Y, m.Cb, m.Cr} {
			for i := range p.Pix {
				p.Pix[i] = 200
			}
		}
		data, err := c.Encode(planar.YCbCr420(m, 1928, 1081), 80)
		require.NoError(t, err)
		got, err := c.Decode(data)
		require.NoError(t, err)
		requireClose(t, m.Y, got.Y, 1, "luma")
		requireClose(t, m.Cb, got.Cb, 1, "Cb")
		requireClose(t, m.Cr, got.Cr, 1, "Cr")
	})
}

// What cameras and ffmpeg send: all subsamplings, against the planes that went in.
func TestDecodeSubsamplings(t *testing.T) {
	for _, f := range []struct {
		name   string
		dx, dy int
	}{{"yuvj420p", 2, 2}, {"yuvj422p", 2, 1}, {"yuvj444p", 1, 1}} {
		clip := testclip.Make(t, testclip.Spec{Codec: "mjpeg", Width: 322, Height: 182, Frames: 2, PixFmt: f.name})
		each(t, func(t *testing.T, c *Codec, _ string) {
			for i, data := range clip.Units {
				h, err := Check(data)
				require.NoError(t, err)
				require.Equal(t, Header{322, 182, 3, f.dx, f.dy}, h)
				m, err := c.Decode(data)
				require.NoError(t, err)
				for _, at := range [][2]int{{3, 3}, {160, 90}, {318, 179}, {10, 170}} {
					require.InDelta(t, int(clip.Spec.Luma(i, at[0], at[1])), sample(m.Y, at[0], at[1]), 4,
						"%s luma at %v", f.name, at)
					cw, ch := (322+f.dx-1)/f.dx, (182+f.dy-1)/f.dy
					require.Equal(t, []int{cw, ch}, []int{m.Cb.Width, m.Cb.Height})
					cb, cr := testclip.Chroma(at[0]/f.dx, at[1]/f.dy, cw, ch)
					require.InDelta(t, int(cb), sample(m.Cb, at[0]/f.dx, at[1]/f.dy), 4, "%s Cb at %v", f.name, at)
					require.InDelta(t, int(cr), sample(m.Cr, at[0]/f.dx, at[1]/f.dy), 4, "%s Cr at %v", f.name, at)
				}
			}
		})
	}
}

func TestDecodeGray(t *testing.T) {
	src := image.NewGray(image.Rect(0, 0, 50, 30))
	for i := range src.Pix {
		src.Pix[i] = byte(i / 8)
	}
	var b bytes.Buffer
	require.NoError(t, stdjpeg.Encode(&b, src, &stdjpeg.Options{Quality: 100}))
	each(t, func(t *testing.T, c *Codec, _ string) {
		m, err := c.Decode(b.Bytes())
		require.NoError(t, err)
		require.True(t, m.Gray())
		requireClose(t, planar.Plane{Pix: src.Pix, Stride: 50, Width: 50, Height: 30}, m.Y, 2, "luma")
		data, err := c.Encode(planar.YCbCr420(m, 50, 30), 90)
		require.NoError(t, err)
		again, err := c.Decode(data)
		require.NoError(t, err)
		require.InDelta(t, 128, sample(again.Cb, 5, 5), 1)
	})
}

func TestQualityMatters(t *testing.T) {
	each(t, func(t *testing.T, c *Codec, _ string) {
		m := planar.YCbCr420(noisy(320, 180), 320, 180)
		var last int
		for _, q := range []int{-5, 30, 60, 90, 400} {
			data, err := c.Encode(m, q)
			require.NoError(t, err)
			require.Greater(t, len(data), last, "quality %d", q)
			last = len(data)
		}
	})
}

func noisy(w, h int) planar.Image {
	m, r := ramp(w, h), rand.New(rand.NewPCG(1, 2))
	for i := range m.Y.Pix {
		m.Y.Pix[i] = byte(int(m.Y.Pix[i])/2 + int(r.Uint32()%64))
	}
	return m
}

// Damage ends in an error or in a picture of the right size, never in anything worse.
func TestDecodeDamaged(t *testing.T) {
	each(t, func(t *testing.T, c *Codec, name string) {
		data, err := c.Encode(planar.YCbCr420(noisy(160, 96), 160, 96), 80)
		require.NoError(t, err)
		r := rand.New(rand.NewPCG(3, 4))
		refused := 0
		for range 600 {
			bad := bytes.Clone(data)
			switch r.IntN(4) {
			case 0:
				bad = bad[:r.IntN(len(bad))]
			case 1:
				for range 1 + r.IntN(8) {
					bad[r.IntN(len(bad))] ^= 1 << r.IntN(8)
				}
			case 2:
				bad[r.IntN(700)] = byte(r.Uint32())
			case 3:
				at := r.IntN(len(bad) - 50)
				bad = append(bad[:at], bad[at+1+r.IntN(49):]...)
			}
			m, err := c.Decode(bad)
			if err != nil {
				refused++
				continue
			}
			require.NoError(t, m.Check())
		}
		require.Greater(t, refused, 100, "%s", name)
		_, err = c.Decode(append(bytes.Clone(data[:len(data)/3]), 0xff, 0xd9))
		if name != "libjpeg" { // which says nothing of missing data
			require.ErrorIs(t, err, ErrDamaged)
		}
		require.NotPanics(t, func() { _, _ = c.Decode(nil) })
	})
}

// Pictures decoded side by side: each is judged by what was found in it, not in its neighbour.
func TestDamageIsOfOnePicture(t *testing.T) {
	each(t, func(t *testing.T, c *Codec, name string) {
		data, err := c.Encode(planar.YCbCr420(noisy(160, 96), 160, 96), 80)
		require.NoError(t, err)
		end := []byte{0xff, 0xd9}
		cut := append(bytes.Clone(data[:len(data)/3]), end...)
		padded := append(append(bytes.Clone(data[:len(data)-2]), make([]byte, 40)...), end...)
		var (
			all               sync.WaitGroup
			accepted, refused atomic.Int64
		)
		for range 8 {
			all.Go(func() {
				for range 400 {
					if _, err := c.Decode(cut); err == nil {
						accepted.Add(1)
					}
					if _, err := c.Decode(padded); err != nil {
						refused.Add(1)
					}
				}
			})
		}
		all.Wait()
		if name != "libjpeg" { // which says nothing of missing data
			require.Zero(t, accepted.Load(), "pictures cut off that were taken for whole")
		}
		require.Zero(t, refused.Load(), "whole pictures that were refused")
	})
}

func TestOpenPrefersC(t *testing.T) {
	name, _, _ := Open(nil).Describe()
	all := implementations(t)
	switch {
	case all["libjpeg"] != nil:
		require.Equal(t, "libjpeg", name)
	case all["turbo"] != nil:
		require.Equal(t, "libturbojpeg", name)
	default:
		require.Equal(t, "image/jpeg", name)
	}
}

// go test -bench JPEG ./agent/codec/jpeg
func BenchmarkJPEG(b *testing.B) {
	for _, size := range [][2]int{{640, 360}, {1920, 1080}} {
		m := planar.YCbCr420(noisy(size[0], size[1]), size[0], size[1])
		for name, impl := range implementations(b) {
			data, err := impl.encode(m, 80)
			require.NoError(b, err)
			b.Run(fmt.Sprintf("op=decode/impl=%s/size=%dx%d", name, size[0], size[1]), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					_, _ = (&Codec{impl}).Decode(data)
				}
			})
			b.Run(fmt.Sprintf("op=encode/impl=%s/size=%dx%d", name, size[0], size[1]), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					_, _ = (&Codec{impl}).Encode(m, 80)
				}
			})
		}
	}
}
