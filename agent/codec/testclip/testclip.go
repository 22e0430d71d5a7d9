// Package testclip makes short coded clips of known pictures by the ffmpeg program, for the tests
// of agent/codec and its sub-packages. A test that asks for one is skipped where ffmpeg is not
// installed.
//
//	clip := testclip.Make(t, testclip.Spec{Codec: "h264", Width: 320, Height: 180, Frames: 30,
//		BFrames: 2})
//	for i, au := range clip.Units { … clip.Order(i) … }
package testclip

import (
	"bytes"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// Spec says which clip.
type Spec struct {
	Codec         string // "h264", "h265" or "mjpeg"
	Width, Height int
	Frames        int
	PixFmt        string // default "yuv420p", for MJPEG "yuvj420p"
	BFrames       int
	Keyint        int // default: one keyframe at the start
	Full          bool
	QP            int // default 12; for MJPEG 2 to 31, default 2
}

// Clip is access units in coding order.
type Clip struct {
	Spec  Spec
	Units [][]byte
}

// Luma is the brightness that picture i of every clip has at x, y: a ramp with a block in the
// middle whose brightness says which picture it is. Limited range.
func (s Spec) Luma(i, x, y int) byte {
	if x*8 >= 3*s.Width && x*8 < 5*s.Width && y*8 >= 3*s.Height && y*8 < 5*s.Height {
		return Block(i)
	}
	return byte(30 + 90*x/s.Width + 80*y/s.Height)
}

// Block is the brightness of the block in picture i; neighbouring pictures differ by at least 14.
func Block(i int) byte { return byte(40 + i*37%160) }

// Chroma is the colour at x, y of a chroma plane w×h.
func Chroma(x, y, w, h int) (cb, cr byte) { return byte(60 + 120*x/w), byte(200 - 120*y/h) }

// layouts are the planes of the pixel formats: chroma divisors (0: none), bits.
var layouts = map[string][3]int{
	"gray": {0, 0, 8}, "yuv420p": {2, 2, 8}, "yuvj420p": {2, 2, 8}, "yuv422p": {2, 1, 8}, "yuvj422p": {2, 1, 8},
	"yuv444p": {1, 1, 8}, "yuvj444p": {1, 1, 8}, "yuv420p10le": {2, 2, 10}, "yuv422p10le": {2, 1, 10},
}

// raw draws picture i in the clip's pixel format.
func (s Spec) raw(i int) []byte {
	l, ok := layouts[s.PixFmt]
	if !ok {
		panic("testclip: pixel format " + s.PixFmt)
	}
	var b []byte
	put := func(v byte) {
		if l[2] == 8 {
			b = append(b, v)
			return
		}
		wide := int(v) << (l[2] - 8)
		b = append(b, byte(wide), byte(wide>>8))
	}
	for y := range s.Height {
		for x := range s.Width {
			put(s.Luma(i, x, y))
		}
	}
	if l[0] == 0 {
		return b
	}
	w, h := (s.Width+l[0]-1)/l[0], (s.Height+l[1]-1)/l[1]
	for plane := range 2 {
		for y := range h {
			for x := range w {
				cb, cr := Chroma(x, y, w, h)
				put([]byte{cb, cr}[plane])
			}
		}
	}
	return b
}

// Make encodes the clip.
func Make(t testing.TB, s Spec) Clip {
	t.Helper()
	path, err := exec.LookPath("ffmpeg")
	if err != nil {
		t.Skip("ffmpeg is not installed: apt install ffmpeg")
	}
	if s.PixFmt == "" {
		s.PixFmt = "yuv420p"
		if s.Codec == "mjpeg" {
			s.PixFmt = "yuvj420p"
		}
	}
	if s.Keyint == 0 {
		s.Keyint = s.Frames
	}
	if s.QP == 0 {
		s.QP = map[bool]int{true: 2, false: 12}[s.Codec == "mjpeg"]
	}
	rangeName := map[bool]string{true: "pc", false: "tv"}[s.Full || s.Codec == "mjpeg"]
	args := []string{"-v", "error", "-nostdin", "-f", "rawvideo", "-pix_fmt", s.PixFmt, "-s",
		fmt.Sprintf("%dx%d", s.Width, s.Height),
		"-r", "10", "-color_range", rangeName, "-i", "pipe:0", "-color_range", rangeName, "-threads", "1"}
	common := fmt.Sprintf("keyint=%d:min-keyint=%d:scenecut=0:bframes=%d:b-adapt=0:aud=1", s.Keyint, s.Keyint,
		s.BFrames)
	fullName := map[bool]string{true: "on", false: "off"}[s.Full]
	switch s.Codec {
	case "h264":
		args = append(args, "-c:v", "libx264", "-preset", "ultrafast", "-qp", strconv.Itoa(s.QP), "-x264-params",
			common+":fullrange="+fullName, "-f", "h264")
	case "h265":
		rng := map[bool]string{true: "full", false: "limited"}[s.Full]
		args = append(args, "-c:v", "libx265", "-preset", "ultrafast", "-x265-params",
			common+":open-gop=0:log-level=error:pools=none:frame-threads=1:range="+rng+":qp="+strconv.Itoa(s.QP), "-f",
			"hevc")
	case "mjpeg":
		args = append(args, "-c:v", "mjpeg", "-q:v", strconv.Itoa(s.QP), "-qmin", "1", "-huffman", "default", "-f",
			"image2pipe")
	default:
		require.Fail(t, "no such codec", s.Codec)
	}
	var in, out, said bytes.Buffer
	for i := range s.Frames {
		in.Write(s.raw(i))
	}
	cmd := exec.Command(path, append(args, "pipe:1")...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = &in, &out, &said
	require.NoError(t, cmd.Run(), "ffmpeg: %s", said.String())
	units := split(s.Codec, out.Bytes())
	require.Len(t, units, s.Frames, "access units of %+v: %s", s, said.String())
	return Clip{s, units}
}

// split cuts a stream at the start of each picture: access unit delimiters, or start-of-image
// markers.
func split(codec string, b []byte) [][]byte {
	mark := map[string][]byte{"h264": {0, 0, 0, 1, 0x09}, "h265": {0, 0, 0, 1, 0x46},
		"mjpeg": {0xff, 0xd8, 0xff}}[codec]
	var units [][]byte
	for at := bytes.Index(b, mark); at >= 0; {
		next := bytes.Index(b[at+len(mark):], mark)
		if next < 0 {
			return append(units, slices.Clone(b[at:]))
		}
		units = append(units, slices.Clone(b[at:at+len(mark)+next]))
		at += len(mark) + next
	}
	return units
}

// Order is the presentation order of the units, as fed: the time of unit i is the place of its
// picture. With b B-frames between two others and none of them a reference it is known; with
// references between them it is not, so tests only ask for up to one.
func (c Clip) Order(i int) int {
	if c.Spec.BFrames != 1 || i%c.Spec.Keyint == 0 {
		return i
	}
	// Within a group of pictures: I P B P B … is shown I B P B P …; the last one may have no
	// partner.
	k := i % c.Spec.Keyint
	switch {
	case k%2 == 1 && k+1 < min(c.Spec.Keyint, len(c.Units)-i+k):
		return i + 1
	case k%2 == 1:
		return i
	}
	return i - 1
}
