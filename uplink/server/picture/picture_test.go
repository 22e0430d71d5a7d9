package picture

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
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
	require.NoError(t, jpeg.Encode(&out, img, nil))
	return out.Bytes()
}

func TestChange(t *testing.T) {
	red := color.RGBA{255, 0, 0, 255}
	for name, c := range map[string]struct {
		wish          Wish
		width, height int
		at            [2]int
		color         [3]uint8
	}{
		"width":           {Wish{Width: 64}, 64, 32, [2]int{60, 16}, [3]uint8{255, 255, 255}},
		"height":          {Wish{Height: 32}, 64, 32, [2]int{4, 16}, [3]uint8{}},
		"both, within":    {Wish{Width: 64, Height: 64}, 64, 32, [2]int{60, 16}, [3]uint8{255, 255, 255}},
		"never larger":    {Wish{Width: 4000}, 640, 320, [2]int{4, 16}, [3]uint8{}},
		"cut":             {Wish{Crop: Box{0.75, 0.5, 1, 1}}, 160, 160, [2]int{80, 80}, [3]uint8{255, 255, 255}},
		"cut and smaller": {Wish{Crop: Box{0, 0, 0.5, 1}, Width: 32}, 32, 32, [2]int{16, 16}, [3]uint8{}},
		"cut to nothing":  {Wish{Crop: Box{1, 1, 1, 1}}, 1, 1, [2]int{0, 0}, [3]uint8{255, 255, 255}},
		"a box": {Wish{Shapes: []Shape{Box{0.25, 0.25, 0.75, 0.75}.Rectangle(red, 4)}}, 640, 320,
			[2]int{160, 160}, [3]uint8{254, 0, 0}},
		"a box, scaled": {Wish{Shapes: []Shape{Box{0.25, 0.25, 0.75, 0.75}.Rectangle(red, 4)}, Width: 320}, 320,
			160, [2]int{80, 80}, [3]uint8{254, 0, 0}},
		"a box, cut": {Wish{Shapes: []Shape{Box{0.25, 0.25, 0.75, 0.75}.Rectangle(red, 8)},
			Crop: Box{0.2, 0, 0.4, 1}}, 128, 320, [2]int{32, 160}, [3]uint8{254, 0, 0}},
		"a box far outside": {Wish{Shapes: []Shape{Box{-900, -900, 900, 900}.Rectangle(red, 4)}}, 640, 320,
			[2]int{4, 16}, [3]uint8{}},
		"inside stays inside": {Wish{Shapes: []Shape{Box{0.25, 0.25, 0.75, 0.75}.Rectangle(red, 4)}}, 640, 320,
			[2]int{250, 160}, [3]uint8{}},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := Change(halves(t, 640, 320), c.wish)
			require.NoError(t, err)
			img, err := jpeg.Decode(bytes.NewReader(out))
			require.NoError(t, err)
			require.Equal(t, image.Pt(c.width, c.height), img.Bounds().Size())
			r, g, b, _ := img.At(c.at[0], c.at[1]).RGBA()
			for i, v := range []uint32{r, g, b} {
				require.InDelta(t, c.color[i], v>>8, 40, "%d %d %d", r>>8, g>>8, b>>8)
			}
		})
	}
}

func TestChangeRefuses(t *testing.T) {
	in := halves(t, 64, 64)
	same, err := Change(in, Wish{})
	require.NoError(t, err)
	require.Equal(t, in, same)
	for name, bad := range map[string][]byte{"nothing": nil, "no picture": []byte("GIF89a"),
		"cut off": in[:len(in)/2]} {
		_, err := Change(bad, Wish{Width: 32})
		require.Error(t, err, name)
	}
	huge := bytes.Clone(in)
	at := bytes.Index(huge, []byte{0xff, 0xc0})
	copy(huge[at+5:], []byte{0xff, 0xff, 0xff, 0xff})
	_, err = Change(huge, Wish{Width: 32})
	require.ErrorIs(t, err, ErrTooLarge)
}

// What a camera sends is foreign: whatever it is, there is an answer.
func FuzzChange(f *testing.F) {
	f.Add(halves(f, 32, 32), 16, 0.1, 0.9)
	f.Fuzz(func(t *testing.T, in []byte, width int, left, right float64) {
		head, err := jpeg.DecodeConfig(bytes.NewReader(in))
		if err == nil && head.Width*head.Height > 1<<20 {
			return // the memory of the fuzzer
		}
		if !(left >= 0 && left < right && right <= 1) {
			return
		}
		_, _ = Change(in, Wish{Width: width & 1023, Crop: Box{left, left, right, right}})
	})
}

func ExampleChange() {
	var in bytes.Buffer
	_ = jpeg.Encode(&in, image.NewGray(image.Rect(0, 0, 640, 360)), nil)
	small, _ := Change(in.Bytes(), Wish{Width: 320})
	head, _ := jpeg.DecodeConfig(bytes.NewReader(small))
	fmt.Println(head.Width, head.Height)
	// Output: 320 180
}
