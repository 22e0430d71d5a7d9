package main

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/agent/codec/testclip"
)

// result is what a command line did.
type result struct {
	out, err string
	code     int
}

// do runs a command line in this process.
func do(t *testing.T, args ...string) result {
	t.Helper()
	var out, errs bytes.Buffer
	code := program(t.Context(), args, &out, &errs)
	return result{out.String(), errs.String(), code}
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// boxMP4 is the clip of a box in the usual form.
func boxMP4(t *testing.T) string {
	t.Helper()
	return testclip.Box(t, "a.mp4", "-c:v", "libx264", "-bf", "2")
}

// decodePNG reads a gray PNG.
func decodePNG(t *testing.T, path string) image.Image {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer func() { _ = f.Close() }()
	m, err := png.Decode(f)
	require.NoError(t, err)
	return m
}

// Every picture has a mask in its size that shows the box where it is, named as its image.
func TestReplayMasks(t *testing.T) {
	clip := boxMP4(t)
	folder := filepath.Dir(testclip.Box(t, "in%06d.png", "-r", "10", "-start_number", "3"))
	images, err := os.ReadDir(folder)
	require.NoError(t, err)
	for _, c := range []struct {
		path     string
		rate     float64
		number   int // of the first
		pictures int
	}{{clip, 25, 0, 300}, {folder, 10, 3, len(images)}} {
		dir := filepath.Join(t.TempDir(), "masks")
		r := do(t, "replay", "--masks", dir, "--fps", "10", c.path)
		require.Zero(t, r.code, r.err)
		files, err := filepath.Glob(filepath.Join(dir, "*"))
		require.NoError(t, err)
		require.Equal(t, c.pictures, len(files))
		require.Equal(t, fmt.Sprintf("bin%06d.png", c.number), filepath.Base(files[0]))
		require.Equal(t, fmt.Sprintf("bin%06d.png", c.number+c.pictures-1), filepath.Base(files[len(files)-1]))
		at := func(seconds float64) *image.Gray {
			m := decodePNG(t, filepath.Join(dir, fmt.Sprintf("bin%06d.png", int(seconds*c.rate)+c.number)))
			require.Equal(t, image.Pt(320, 240), m.Bounds().Size())
			return m.(*image.Gray)
		}
		require.Zero(t, bytes.Count(at(3.5).Pix, []byte{255}))
		require.Zero(t, bytes.Count(at(11.5).Pix, []byte{255}))
		m := at(5.2)
		white, black := bytes.Count(m.Pix, []byte{255}), bytes.Count(m.Pix, []byte{0})
		require.Equal(t, 320*240, white+black, "nothing between black and white")
		require.InDelta(t, 60*80, white, 2000)
		x := int(-60+1.2*160) + 30
		require.Equal(t, byte(255), m.GrayAt(x, 140).Y, "the middle of the box")
	}
}

func TestReplayPlot(t *testing.T) {
	clip := boxMP4(t)
	labels := write(t, "labels.csv",
		"start_frame,end_frame,kind,tol_frames\n0,99,quiet,2\n100,159,motion,10\n160,299,quiet,2\n")
	out := filepath.Join(t.TempDir(), "plot.png")
	r := do(t, "replay", "--plot", out, "--csv", labels, clip)
	require.Zero(t, r.code, r.err)
	m := decodePNG(t, out)
	colours := map[[3]uint32]int{}
	for y := 0; y < m.Bounds().Dy(); y += 2 {
		for x := 0; x < m.Bounds().Dx(); x += 2 {
			r, g, b, _ := m.At(x, y).RGBA()
			colours[[3]uint32{r >> 12, g >> 12, b >> 12}]++
		}
	}
	require.Greater(t, len(colours), 30, "a picture, not a blank")
	require.Equal(t, 1600, m.Bounds().Dx())
}

// A folder of images is looked at like a clip, and scored by either name of the flag.
func TestReplayImages(t *testing.T) {
	folder := filepath.Dir(testclip.Box(t, "in%06d.jpg", "-r", "10", "-q:v", "2"))
	labels := write(t, "good.csv",
		"start_frame,end_frame,kind,tol_frames\n0,38,quiet,1\n40,63,motion,6\n70,119,quiet,1\n")
	for _, flag := range []string{"--score", "--csv"} {
		r := do(t, "replay", "--fps", "10", "--strict", flag, labels, folder)
		require.Zero(t, r.code, r.err+r.out)
		require.Contains(t, r.out, "1 of 1 found, 0 missed")
	}
	r := do(t, "replay", "--json", "--fps", "10", folder)
	require.Zero(t, r.code, r.err)
	require.Equal(t, 1, strings.Count(r.out, "\n"), r.out)
	require.Contains(t, r.out, `"type":"vms.motionDetectionEvent.v1"`)
}

func TestWrongCommandLines(t *testing.T) {
	clip := boxMP4(t)
	require.Equal(t, 1, do(t, "replay", "--masks", filepath.Join(clip, "x"), clip).code)
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"strict alone":     {[]string{"--strict", "x.mp4"}, "--csv"},
		"plot to nowhere":  {[]string{"--plot", "/no/such/p.png", "x.mp4"}, "there is no folder /no/such"},
		"score of several": {[]string{"--score", "l.csv", "a.mp4", "b.mp4"}, "--csv scores one"},
		"plot of several":  {[]string{"--plot", "p.png", "a.mp4", "b.mp4"}, "--plot draws one"},
		"plot as PDF":      {[]string{"--plot", "p.pdf", "a.mp4"}, "p.png"},
		"two of one name":  {[]string{"--masks", "m", "a/x.mp4", "b/x.mp4"}, "two of the files"},
	} {
		r := do(t, append([]string{"replay"}, c.args...)...)
		require.Equal(t, exitUsage, r.code, "%s: %s", name, r.err)
		require.Contains(t, r.err, c.want, name)
		require.Equal(t, 1, strings.Count(r.err, "\n"), "one line: %q", r.err)
		require.Empty(t, r.out)
	}
	r := do(t, "replay", "--help")
	require.Zero(t, r.code)
	for _, word := range []string{"--masks", "bin000001.png", "--plot", "--score", "--fps"} {
		require.Contains(t, r.out, word)
	}
}
