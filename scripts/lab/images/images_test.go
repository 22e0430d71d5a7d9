package images

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/image/bmp"

	codecjpeg "vmsbridge/agent/codec/jpeg"
	"vmsbridge/agent/codec/planar"
	"vmsbridge/agent/pipeline"
	"vmsbridge/cmd/vmsbridge/replay/footage"
)

// taken is what a test keeps of a picture.
type taken struct {
	number        int
	at            time.Duration
	width, height int
	luma          []byte // reduced
	full          planar.Plane
	damaged       bool
}

// read reads all of a source.
func read(t testing.TB, path string, o footage.Options) ([]taken, footage.Info, error) {
	t.Helper()
	f, err := Open(t.Context(), path, o)
	if err != nil {
		return nil, footage.Info{}, err
	}
	defer f.Close()
	var all []taken
	for {
		p, err := f.Next()
		if errors.Is(err, io.EOF) {
			return all, f.Info, nil
		}
		if err != nil {
			return all, f.Info, err
		}
		k := taken{number: p.Number, at: p.At, damaged: p.Damaged != nil}
		if p.Damaged == nil {
			require.NoError(t, p.Image.Check())
			w, h := planar.Fit(p.Image.Width, p.Image.Height, pipeline.LumaPixels)
			k.width, k.height, k.luma = p.Image.Width, p.Image.Height, planar.Luma(p.Image, w, h)
			k.full = p.Image.Y
			k.full.Pix = bytes.Clone(p.Image.Y.Pix)
		}
		all = append(all, k)
	}
}

// flat is a picture of one brightness.
func flat(w, h int, v byte) image.Image {
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	for i := range m.Pix {
		m.Pix[i] = v
		if i%4 == 3 {
			m.Pix[i] = 255
		}
	}
	return m
}

func save(t testing.TB, path string, m image.Image) {
	t.Helper()
	var out bytes.Buffer
	var err error
	switch filepath.Ext(path) {
	case ".png":
		err = png.Encode(&out, m)
	case ".bmp":
		err = bmp.Encode(&out, m)
	default:
		err = jpeg.Encode(&out, m, &jpeg.Options{Quality: 95})
	}
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, out.Bytes(), 0o600))
}

// Images come in the order of their numbers, evenly, over gaps, in all three formats and in
// different sizes.
func TestImagesInOrder(t *testing.T) {
	dir := t.TempDir()
	names := []string{"in1.jpg", "in2.png", "in9.bmp", "in10.jpg", "in00011.png", "in200.JPEG"}
	for i, n := range names {
		save(t, filepath.Join(dir, n), flat(60+i, 40, byte(40*i)))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "readme.txt"), []byte("x"), 0o600))
	save(t, filepath.Join(dir, "ROI.bmp"), flat(60, 40, 255)) // without a number: not of the series
	for _, path := range []string{dir, filepath.Join(dir, "in*")} {
		got, info, err := read(t, path, footage.Options{Rate: 10})
		require.NoError(t, err)
		require.Equal(t, footage.Info{Pictures: 6, Length: 600 * time.Millisecond, Rate: 10}, info)
		require.Len(t, got, 6)
		for i, p := range got {
			require.Equal(t, i, p.number)
			require.Equal(t, time.Duration(i)*100*time.Millisecond, p.at)
			require.Equal(t, 60+i, p.width, names[i])
			require.InDelta(t, 40*i, int(p.full.Pix[0]), 2, names[i])
		}
	}
	_, info, err := read(t, dir, footage.Options{})
	require.NoError(t, err)
	require.EqualValues(t, footage.DefaultRate, info.Rate)
}

// Digits are those of the name, for the names of masks.
func TestDigits(t *testing.T) {
	all, err := series("x", []string{"x/cam2_in000010.jpg", "x/cam2_in000009.jpg"})
	require.NoError(t, err)
	require.Equal(t, []string{"000009", "000010"}, []string{all[0].digits, all[1].digits})
}

// Names of masks are made of the digits: no two images have the same, whatever their names are made
// of.
func TestDigitsTellApart(t *testing.T) {
	for _, c := range []struct{ names, want []string }{
		{[]string{"in1.jpg", "in02.jpg"}, []string{"1", "02"}},
		{[]string{"frame_0001_640x360.png", "frame_0002_640x360.png"}, []string{"0001_640_360", "0002_640_360"}},
		{[]string{"2026-11-22_12-00-59.jpg", "2026-11-22_12-01-00.jpg", "2026-11-22_12-01-59.jpg"},
			[]string{"2026_11_22_12_00_59", "2026_11_22_12_01_00", "2026_11_22_12_01_59"}},
		{[]string{"mon/in1.jpg", "tue/in1.jpg"}, []string{"", ""}},
	} {
		all, err := series("x", c.names)
		require.NoError(t, err)
		var got []string
		for _, n := range all {
			got = append(got, n.digits)
		}
		require.Equal(t, c.want, got)
	}
}

// The pattern that is offered where several series lie in one folder names one of them.
func TestPatternForASeries(t *testing.T) {
	for _, c := range []struct {
		names []string
		want  string
	}{
		{[]string{"x/in1.jpg", "x/in2.jpg", "x/gt1.png"}, "x/in*.jpg"},
		{[]string{"x/in1.jpg", "x/in22.jpg", "x/in1_mask.jpg"}, "x/in*[0-9].jpg"},
		{[]string{"x/in1.jpg", "x/in2.jpg", "x/inner1.jpg"}, "x/in[0-9]*.jpg"},
	} {
		_, err := series("x", c.names)
		require.ErrorContains(t, err, "such as '"+c.want+"'")
	}
}

func TestImagesThatCannotBe(t *testing.T) {
	none := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(none, "input"), 0o755))
	save(t, filepath.Join(none, "input", "in1.png"), flat(8, 8, 9))
	clips := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(clips, "yard.MP4"), []byte("x"), 0o600))
	two, twins, nameless, broken := t.TempDir(), t.TempDir(), t.TempDir(), t.TempDir()
	for _, n := range []string{"in1.png", "in2.png", "gt1.png"} {
		save(t, filepath.Join(two, n), flat(8, 8, 9))
	}
	for _, n := range []string{"in1.png", "in01.png"} {
		save(t, filepath.Join(twins, n), flat(8, 8, 9))
	}
	save(t, filepath.Join(nameless, "background.png"), flat(8, 8, 9))
	require.NoError(t, os.WriteFile(filepath.Join(broken, "in1.jpg"), []byte("no JPEG"), 0o600))
	for name, c := range map[string]struct{ path, want string }{
		"nothing":        {t.TempDir(), "no image in this folder"},
		"clips":          {clips, "such as " + filepath.Join(clips, "yard.MP4")},
		"a floor above":  {none, filepath.Join(none, "input")},
		"two series":     {two, "several series"},
		"same number":    {twins, "the same number"},
		"without number": {nameless, "no numbered"},
		"all broken":     {broken, "no image of the series can be read"},
		"empty pattern":  {filepath.Join(two, "x*"), "no numbered"},
	} {
		_, _, err := read(t, c.path, footage.Options{})
		require.ErrorContains(t, err, c.want, name)
	}
}

// One broken image keeps its place and costs nothing else.
func TestOneImageIsDamaged(t *testing.T) {
	dir := t.TempDir()
	for i := range 30 {
		save(t, filepath.Join(dir, fmt.Sprintf("in%06d.jpg", i)), flat(64, 48, byte(8*i)))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "in000007.jpg"), []byte{0xff, 0xd8, 0, 0}, 0o600))
	f, err := Open(t.Context(), dir, footage.Options{})
	require.NoError(t, err)
	defer f.Close()
	for i := range 30 {
		p, err := f.Next()
		require.NoError(t, err)
		require.Equal(t, i, p.Number)
		require.Equal(t, i == 7, p.Damaged != nil)
	}
	_, err = f.Next()
	require.Error(t, err)
	require.Contains(t, f.Complaint(), "1 of 30 images")
	require.Contains(t, f.Complaint(), "in000007.jpg")
}

// Closing early leaves no goroutine behind; goleak looks.
func TestImagesStopInTheMiddle(t *testing.T) {
	dir := t.TempDir()
	for i := range 50 {
		save(t, filepath.Join(dir, fmt.Sprintf("%d.png", i)), flat(64, 48, byte(i)))
	}
	f, err := Open(t.Context(), dir, footage.Options{})
	require.NoError(t, err)
	_, err = f.Next()
	require.NoError(t, err)
	f.Close()
}

// Every kind of image has the luma that color.GrayModel gives.
func TestLumaOfImages(t *testing.T) {
	r := image.Rect(0, 0, 5, 3)
	colours := []color.Color{color.Black, color.White, color.RGBA{200, 30, 90, 255}, color.RGBA{0, 255, 0, 255},
		color.RGBA{0, 0, 255, 255}, color.Gray{77}}
	for _, m := range []interface {
		image.Image
		Set(x, y int, c color.Color)
	}{image.NewGray(r), image.NewRGBA(r), image.NewNRGBA(r), image.NewGray16(r), image.NewRGBA64(r),
		image.NewPaletted(r, colours), image.NewCMYK(r)} {
		for i := range 15 {
			m.Set(i%5, i/5, colours[i%len(colours)])
		}
		out := lumaOf(m)
		require.NoError(t, out.Check())
		for i := range 15 {
			want := color.GrayModel.Convert(m.At(i%5, i/5)).(color.Gray).Y
			require.Equal(t, want, out.Y.Pix[i], "%T %d", m, i)
		}
	}
}

func FuzzImage(f *testing.F) {
	for _, name := range []string{"a.png", "a.bmp", "a.jpg"} {
		path := filepath.Join(f.TempDir(), name)
		save(f, path, flat(9, 7, 99))
		b, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add(pnm(flat(9, 7, 99), false, true))
	f.Add(pnm(flat(9, 7, 99), true, false))
	f.Add([]byte("P5 # comment\n2 2 255\nabcd"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if c, _, err := image.DecodeConfig(bytes.NewReader(b)); err == nil && c.Width*c.Height > 1<<20 {
			t.Skip("too large to be quick")
		}
		if m, err := decodePixels(library, b); err == nil {
			require.NoError(t, m.Check())
		}
	})
}

// library decodes JPEG for the fuzz target.
var library = codecjpeg.Open(nil)
