package main

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// shot writes an image of a patterned wall, with a box at x if there is one, gray or in colour.
func shot(t *testing.T, path string, w, h, x int, colour bool) {
	t.Helper()
	gray, rgba := image.NewGray(image.Rect(0, 0, w, h)), image.NewRGBA(image.Rect(0, 0, w, h))
	for i := range w * h {
		g := byte(90 + (i%w/9*31+i/w/9*17)%60)
		if u, v := i%w-x, i/w; x != 0 && u >= 0 && u < 40 && v >= 40 && v < 110 {
			g = byte(190 + i%30)
		}
		gray.Pix[i] = g
		rgba.Set(i%w, i/w, color.RGBA{g, g, g, 255})
	}
	f, err := os.Create(path)
	require.NoError(t, err)
	if colour {
		err = png.Encode(f, rgba)
	} else {
		err = png.Encode(f, gray)
	}
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

// Each image has one mask, of its number and in its size, and what moves is in the mask where it is
// in that image: with gaps in the numbers, images that cannot be read at the beginning and on the
// way, one of another size, and pictures in gray and in colour.
func TestMasksBelongToTheirImages(t *testing.T) {
	dir, out := t.TempDir(), filepath.Join(t.TempDir(), "masks")
	box := map[int]int{} // where the box is in an image
	var want []string
	for i := range 75 {
		n := 7 + i
		if i > 30 {
			n += 100 // a gap
		}
		name := fmt.Sprintf("in%06d.png", n)
		want = append(want, fmt.Sprintf("bin%06d.png", n))
		x := 0
		if i >= 40 {
			x = 1 + 8*(i-40)
		}
		switch {
		case i == 0 || i == 1 || i == 50:
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("no image"), 0o600))
		case i == 74:
			shot(t, filepath.Join(dir, name), 161, 121, 0, false)
		default:
			shot(t, filepath.Join(dir, name), 321, 241, x, i%2 == 0)
			box[n] = x
		}
	}
	r := do(t, "replay", "--masks", out, "--fps", "10", dir)
	require.Zero(t, r.code, r.err)
	require.Contains(t, r.err, "3 of 75 images cannot be read")
	var got []string
	files, err := os.ReadDir(out)
	require.NoError(t, err)
	for _, f := range files {
		got = append(got, f.Name())
	}
	slices.Sort(want)
	require.Equal(t, want, got)
	seen := 0
	for n, x := range box {
		m := decodePNG(t, filepath.Join(out, fmt.Sprintf("bin%06d.png", n))).(*image.Gray)
		require.Equal(t, image.Pt(321, 241), m.Bounds().Size())
		count, inside := 0, 0
		for i, v := range m.Pix {
			if v != 0 {
				count++
				if u := i%321 - x; u >= 0 && u < 40 && i/321 >= 40 && i/321 < 110 {
					inside++
				}
			}
		}
		switch {
		case x == 0:
			require.Zero(t, count, "image %d", n)
		case x > 60 && x < 280:
			require.Greater(t, inside, 40*70*9/10, "image %d", n)
			require.Greater(t, 10*inside, 9*count, "image %d", n)
			seen++
		}
	}
	require.Greater(t, seen, 20)
	require.Equal(t, image.Pt(321, 241), decodePNG(t, filepath.Join(out, "bin000007.png")).Bounds().Size(),
		"the first, which cannot be read")
	require.Equal(t, image.Pt(161, 121), decodePNG(t, filepath.Join(out, "bin000181.png")).Bounds().Size())

	r = do(t, "replay", "--masks", out, dir)
	require.Contains(t, r.err, "there are 75 masks in "+out+" already")
	hurdle := filepath.Join(t.TempDir(), "masks")
	require.NoError(t, os.MkdirAll(filepath.Join(hurdle, "bin000009.png"), 0o755))
	r = do(t, "replay", "--masks", hurdle, dir)
	require.Equal(t, 1, r.code)
	require.Equal(t, 1, strings.Count(r.err, "write mask"), "once: %s", r.err)

	r = do(t, "replay", "--masks", out, t.TempDir())
	require.Equal(t, 1, r.code)
	require.Contains(t, r.err, "there is no image in this folder")
}
