package server

import (
	"bytes"
	"image"
	"image/color"
	stdjpeg "image/jpeg"
	"testing"

	"github.com/stretchr/testify/require"
)

// halves is a JPEG whose left half is black and whose right half is white.
func halves(t testing.TB, width, height int) []byte {
	t.Helper()
	img := image.NewGray(image.Rect(0, 0, width, height))
	for y := range height {
		for x := width / 2; x < width; x++ {
			img.SetGray(x, y, color.Gray{255})
		}
	}
	var out bytes.Buffer
	require.NoError(t, stdjpeg.Encode(&out, img, nil))
	return out.Bytes()
}

func TestChangeImage(t *testing.T) {
	red := color.RGBA{255, 0, 0, 255}
	for name, c := range map[string]struct {
		wish          imageWish
		shapes        []shape
		width, height int
		at            [2]int
		color         [3]uint8
	}{
		"width":        {imageWish{Width: 64}, nil, 64, 32, [2]int{60, 16}, [3]uint8{255, 255, 255}},
		"height":       {imageWish{Height: 32}, nil, 64, 32, [2]int{4, 16}, [3]uint8{}},
		"both, within": {imageWish{Width: 64, Height: 64}, nil, 64, 32, [2]int{60, 16}, [3]uint8{255, 255, 255}},
		"never larger": {imageWish{Width: 4000}, nil, 640, 320, [2]int{4, 16}, [3]uint8{}},
		"cut": {imageWish{Crop: box{0.75, 0.5, 1, 1}}, nil, 160, 160, [2]int{80, 80},
			[3]uint8{255, 255, 255}},
		"cut and smaller": {imageWish{Crop: box{0, 0, 0.5, 1}, Width: 32}, nil, 32, 32, [2]int{16, 16}, [3]uint8{}},
		"cut to nothing":  {imageWish{Crop: box{1, 1, 1, 1}}, nil, 1, 1, [2]int{0, 0}, [3]uint8{255, 255, 255}},
		"a box": {imageWish{}, []shape{box{0.25, 0.25, 0.75, 0.75}.rectangle(red, 4, "")}, 640, 320,
			[2]int{160, 160}, [3]uint8{254, 0, 0}},
		"a box, scaled": {imageWish{Width: 320}, []shape{box{0.25, 0.25, 0.75, 0.75}.rectangle(red, 4, "")}, 320,
			160, [2]int{80, 80}, [3]uint8{254, 0, 0}},
		"a box, cut": {imageWish{Crop: box{0.2, 0, 0.4, 1}},
			[]shape{box{0.25, 0.25, 0.75, 0.75}.rectangle(red, 8, "")}, 128, 320, [2]int{32, 160},
			[3]uint8{254, 0, 0}},
		"a box far outside": {imageWish{}, []shape{box{-900, -900, 900, 900}.rectangle(red, 4, "")}, 640, 320,
			[2]int{4, 16}, [3]uint8{}},
		"inside stays inside": {imageWish{}, []shape{box{0.25, 0.25, 0.75, 0.75}.rectangle(red, 4, "")}, 640, 320,
			[2]int{250, 160}, [3]uint8{}},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := changeImage(halves(t, 640, 320), c.wish, c.shapes)
			require.NoError(t, err)
			img, err := stdjpeg.Decode(bytes.NewReader(out))
			require.NoError(t, err)
			require.Equal(t, image.Pt(c.width, c.height), img.Bounds().Size())
			r, g, b, _ := img.At(c.at[0], c.at[1]).RGBA()
			for i, v := range []uint32{r, g, b} {
				require.InDelta(t, c.color[i], v>>8, 40, "%d %d %d", r>>8, g>>8, b>>8)
			}
		})
	}
}

func TestChangeImageRefuses(t *testing.T) {
	in := halves(t, 64, 64)
	for name, bad := range map[string][]byte{"nothing": nil, "no picture": []byte("GIF89a"),
		"cut off": in[:len(in)/2]} {
		_, err := changeImage(bad, imageWish{Width: 32}, nil)
		require.Error(t, err, name)
	}
	huge := bytes.Clone(in)
	at := bytes.Index(huge, []byte{0xff, 0xc0})
	copy(huge[at+5:], []byte{0xff, 0xff, 0xff, 0xff})
	_, err := changeImage(huge, imageWish{Width: 32}, nil)
	require.ErrorIs(t, err, errTooLarge)
}

// What a camera sends is foreign: whatever it is, there is an answer.
func FuzzChangeImage(f *testing.F) {
	f.Add(halves(f, 32, 32), 16, 0.1, 0.9)
	f.Fuzz(func(t *testing.T, in []byte, width int, left, right float64) {
		head, err := stdjpeg.DecodeConfig(bytes.NewReader(in))
		if err == nil && head.Width*head.Height > 1<<20 {
			return // the memory of the fuzzer
		}
		if !(left >= 0 && left < right && right <= 1) {
			return
		}
		_, _ = changeImage(in, imageWish{Width: width & 1023, Crop: box{left, left, right, right}}, nil)
	})
}
