package images

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/image/tiff"
)

// pnm codes an image as another program would.
func pnm(m image.Image, colours, deep bool) []byte {
	var out bytes.Buffer
	kind, white := "P5", "255"
	if colours {
		kind = "P6"
	}
	if deep {
		white = "65535"
	}
	r := m.Bounds()
	_, _ = out.WriteString(kind + "\n# drawn\n" + base10(r.Dx()) + " " + base10(r.Dy()) + "\n" + white + "\n")
	put := func(v uint32) {
		if out.WriteByte(byte(v >> 8)); deep {
			out.WriteByte(byte(v))
		}
	}
	for i := range r.Dx() * r.Dy() {
		c := m.At(i%r.Dx(), i/r.Dx())
		if !colours {
			put(uint32(color.Gray16Model.Convert(c).(color.Gray16).Y))
			continue
		}
		red, green, blue, _ := c.RGBA()
		put(red)
		put(green)
		put(blue)
	}
	return out.Bytes()
}

func base10(v int) string { return string([]byte{byte('0' + v/10), byte('0' + v%10)}) }

// Graymaps, pixmaps and TIFF have the luma that color.GrayModel gives, at either depth.
func TestOtherImages(t *testing.T) {
	m := image.NewRGBA(image.Rect(0, 0, 11, 7))
	for i := range 77 {
		m.Set(i%11, i/11, color.RGBA{byte(3 * i), byte(255 - 2*i), byte(i * i), 255})
	}
	var tif bytes.Buffer
	require.NoError(t, tiff.Encode(&tif, m, &tiff.Options{Compression: tiff.Deflate}))
	for name, data := range map[string][]byte{"gray": pnm(m, false, false), "gray, deep": pnm(m, false, true),
		"colours": pnm(m, true, false), "colours, deep": pnm(m, true, true),
		"tiff": tif.Bytes()} {
		got, err := decodePixels(library, data)
		require.NoError(t, err, name)
		require.NoError(t, got.Check())
		require.True(t, got.FullRange)
		require.Equal(t, []int{11, 7}, []int{got.Width, got.Height}, name)
		for i, v := range got.Y.Pix {
			require.InDelta(t, color.GrayModel.Convert(m.At(i%11, i/11)).(color.Gray).Y, v, 1, "%s: pixel %d", name, i)
		}
	}
	webp, err := base64.StdEncoding.DecodeString("UklGRiQAAABXRUJQVlA4IBgAAAAwAQCdASoBAAEAAgA0JaQAA3AA/vuUAAA=")
	require.NoError(t, err)
	got, err := decodePixels(library, webp)
	require.NoError(t, err)
	require.Equal(t, 1, got.Width)
	for _, name := range []string{"in1.tif", "in1.TIFF", "in1.webp", "in1.ppm", "in1.PGM"} {
		require.True(t, isImage(name))
	}
}

func TestBadPNM(t *testing.T) {
	for text, want := range map[string]string{
		"P5 2 2 255\nabc":      "it ends early: 3 bytes of 4",
		"P6\n2 2\n255\nabcdef": "6 bytes of 12",
		"P5 2 2 0\nabcd":       "white is 0",
		"P5 2 2 70000\nabcd":   "white is 70000",
		"P5 0 2 255\nabcd":     "0x2",
		"P5 9999999 99999 1\n": "megapixels",
		"P5 2 99999999999 1\n": "too large",
		"P5 2 x":               "not three numbers",
		"P5 # no end":          "not three numbers",
		"P5 2 2 255":           "no pixels",
	} {
		_, err := decodePixels(library, []byte(text))
		require.ErrorContains(t, err, want, text)
	}
}
