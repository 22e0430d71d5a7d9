package masks

import (
	"fmt"
	"image"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestName(t *testing.T) {
	require.Equal(t, "bin000001.png", Name("000001", 0), "as the data sets have it for in000001.jpg")
	require.Equal(t, "bin000012.png", Name("", 12))
	require.Equal(t, "bin1234567.png", Name("", 1234567))
}

// random is a mask of blobs.
func random(r *rand.Rand, w, h int) []byte {
	m := make([]byte, w*h)
	x0, y0 := r.IntN(w), r.IntN(h)
	for y := y0; y < min(h, y0+h/3+1); y++ {
		for x := x0; x < min(w, x0+w/4+1); x++ {
			m[y*w+x] = 255
		}
	}
	return m
}

// What is written is what the standard decoder reads: size, depth, every pixel. The mask may be
// used again at once.
func TestMasksComeBack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	dir := filepath.Join(t.TempDir(), "new", "masks")
	s, err := New(dir)
	require.NoError(t, err)
	want := map[string][]byte{}
	sizes := map[string]image.Point{}
	var mask []byte
	for i := range 200 {
		w, h := 101, 57
		if i >= 150 {
			w, h = 640, 360
		}
		if i%4 != 3 || len(mask) != w*h { // every fourth is as the one before
			mask = random(r, w, h)
		}
		name := Name("", i)
		want[name], sizes[name] = append([]byte(nil), mask...), image.Pt(w, h)
		require.NoError(t, s.Put(name, mask, w, h))
		clearSome := append([]byte(nil), mask...)
		clear(mask)
		mask = clearSome
	}
	require.NoError(t, s.Close())
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, files, len(want))
	for name, pix := range want {
		f, err := os.Open(filepath.Join(dir, name))
		require.NoError(t, err)
		m, err := png.Decode(f)
		require.NoError(t, err, name)
		require.NoError(t, f.Close())
		g, ok := m.(*image.Gray)
		require.True(t, ok, "%T", m)
		require.Equal(t, sizes[name], g.Bounds().Size())
		require.Equal(t, pix, g.Pix, name)
	}
}

func TestAFolderThatCannotBeWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err := New(filepath.Join(file, "masks"))
	require.ErrorContains(t, err, "make the folder of masks")

	dir := t.TempDir()
	s, err := New(dir)
	require.NoError(t, err)
	for i := range 20 {
		_ = s.Put(fmt.Sprintf("no/such/folder/%d.png", i), make([]byte, 16), 4, 4)
	}
	require.ErrorContains(t, s.Close(), "write mask")
}

// go test -bench . ./masks
func BenchmarkEncode(b *testing.B) {
	for _, size := range []image.Point{{640, 360}, {1920, 1080}} {
		mask := random(rand.New(rand.NewPCG(3, 4)), size.X, size.Y)
		b.Run(fmt.Sprintf("impl=own/size=%dx%d", size.X, size.Y), func(b *testing.B) {
			var e encoder
			b.ReportAllocs()
			b.SetBytes(int64(len(mask)))
			for b.Loop() {
				if _, err := e.encode(mask, size.X, size.Y); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("impl=image-png/size=%dx%d", size.X, size.Y), func(b *testing.B) {
			e := png.Encoder{CompressionLevel: png.BestSpeed}
			b.ReportAllocs()
			b.SetBytes(int64(len(mask)))
			for b.Loop() {
				if err := e.Encode(discard{}, &image.Gray{Pix: mask, Stride: size.X,
					Rect: image.Rectangle{Max: size}}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }
