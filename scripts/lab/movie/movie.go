// Package movie encodes a scene or a clip once, into memory, so that camsim can play it for ever at
// next to no cost.
//
// H.264 and H.265 are encoded by ffmpeg as a child process; drawn MJPEG by image/jpeg. The pictures
// keep their order of decoding and their order of showing, so that B-frames reach the network as a
// camera sends them. A movie starts with a keyframe and is a whole number of pictures long: played
// in a loop its timestamps simply go on.
//
//	s, _ := scene.New("person", scene.Options{Width: 640, Height: 360, Rate: 10})
//	m, err := movie.FromScene(ctx, s, movie.Options{Codec: movie.H264, GOP: 20})
package movie

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"os/exec"
	"time"

	"vmsbridge/scripts/lab/scene"
)

// Codecs of Options.
const (
	H264  = "h264"
	H265  = "h265"
	MJPEG = "mjpeg"
)

// Options say how to encode.
type Options struct {
	Codec         string
	Width, Height int // of a clip: 0 keeps its own; drawn scenes have their size
	Rate          int // of a clip, pictures per second: 0 keeps its own
	GOP           int // pictures from keyframe to keyframe; 0 means two seconds
	BFrames       int // between two references
	Bitrate       int // kbit/s of H.264 and H.265; 0 means constant quality
	MinQP         int // the finest quantiser of H.264 and H.265; 0 means the encoder's
	// Coding is ffmpeg's own words for how to encode, in place of all that the fields above say but
	// Codec, Width, Height and Rate.
	Coding string
	// FFmpeg is the program to run; "" means ffmpeg.
	FFmpeg string
}

// Movie is a loop of coded pictures in decode order. It is never changed and may be shared.
type Movie struct {
	Codec         string
	Width, Height int
	Rate          int
	Units         []Unit
}

// Unit is one coded picture.
type Unit struct {
	NALs  [][]byte // without start codes; for MJPEG one whole JPEG
	Shown int      // its number in the order of showing
	Key   bool
}

// Loop is how long the movie lasts.
func (m *Movie) Loop() time.Duration {
	return time.Duration(len(m.Units)) * time.Second / time.Duration(m.Rate)
}

// ParameterSets returns the first NAL units of the given types (H.264: 7, 8; H.265: 32, 33, 34),
// nil where one is missing.
func (m *Movie) ParameterSets(types ...byte) [][]byte {
	out := make([][]byte, len(types))
	for i, typ := range types {
		for _, n := range m.Units[0].NALs {
			if out[i] == nil && nalType(m.Codec, n) == typ {
				out[i] = n
			}
		}
	}
	return out
}

func nalType(codec string, n []byte) byte {
	if codec == H265 {
		return n[0] >> 1 & 0x3F
	}
	return n[0] & 0x1F
}

func (o Options) check(width, height int) error {
	switch {
	case o.Codec != H264 && o.Codec != H265 && o.Codec != MJPEG:
		return fmt.Errorf("encode as %q: the codec must be h264, h265 or mjpeg", o.Codec)
	case o.Codec == MJPEG && (width%8 != 0 || height%8 != 0 || width > 2040 || height > 2040):
		return fmt.Errorf("encode %dx%d as mjpeg: RTP carries JPEG only up to 2040x2040 and in multiples of 8", width,
			height)
	case o.GOP < 0 || o.Bitrate < 0 || o.BFrames < 0 || o.BFrames > 3:
		return errors.New("encode: GOP and bit rate must not be negative, and B-frames 0 to 3")
	case o.Codec == MJPEG && o.BFrames > 0:
		return errors.New("encode as mjpeg: there are no B-frames in MJPEG")
	}
	return nil
}

// FromScene draws and encodes a scene. ctx ends it early.
func FromScene(ctx context.Context, s *scene.Scene, o Options) (*Movie, error) {
	w, h := s.Size()
	if err := o.check(w, h); err != nil {
		return nil, err
	}
	m := &Movie{Codec: o.Codec, Width: w, Height: h, Rate: s.Rate()}
	if o.Codec == MJPEG {
		return m, m.drawJPEG(ctx, s)
	}
	return m, m.encode(ctx, o, source{
		args: []string{"-f", "rawvideo", "-pix_fmt", "yuv420p", "-video_size", fmt.Sprintf("%dx%d", w, h), "-framerate",
			fmt.Sprint(s.Rate()), "-i", "pipe:0"},
		feed: s,
	})
}

// FromClip decodes a video file and encodes it again. ctx ends it early.
func FromClip(ctx context.Context, path string, o Options) (*Movie, error) {
	if err := o.check(o.Width, o.Height); err != nil {
		return nil, err
	}
	m := &Movie{Codec: o.Codec}
	return m, m.encode(ctx, o, source{args: []string{"-i", path}, scale: true})
}

// drawJPEG encodes a scene in Go. image/jpeg writes the standard Huffman tables, the only ones that
// RTP carries.
func (m *Movie) drawJPEG(ctx context.Context, s *scene.Scene) error {
	var full [256]byte // JPEG is full range
	for i := range full {
		full[i] = byte(max(0, min(255, (i-16)*255/219)))
	}
	var p scene.Picture
	img := image.NewYCbCr(image.Rect(0, 0, m.Width, m.Height), image.YCbCrSubsampleRatio420)
	for i := range s.Len() {
		if err := ctx.Err(); err != nil {
			return err
		}
		s.Draw(i, &p)
		for j, l := range p.Y {
			img.Y[j] = full[l]
		}
		copy(img.Cb, p.U)
		copy(img.Cr, p.V)
		var buf bytes.Buffer
		if err := jpeg.Encode(&buf, img, &jpeg.Options{Quality: 80}); err != nil {
			return fmt.Errorf("encode picture %d: %w", i, err)
		}
		m.Units = append(m.Units, Unit{NALs: [][]byte{buf.Bytes()}, Shown: i, Key: true})
	}
	return nil
}

// MissingError says that ffmpeg, or an encoder in it, is not installed.
type MissingError struct{ Program, Reason string }

func (e *MissingError) Error() string {
	return fmt.Sprintf("%s: %s. Install it (Debian, Ubuntu: sudo apt-get install ffmpeg), or use --codec mjpeg with "+
		"a drawn scene, which needs nothing", e.Program, e.Reason)
}

func (o Options) program() (string, error) {
	name := o.FFmpeg
	if name == "" {
		name = "ffmpeg"
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", &MissingError{name, "encoding needs it and it is not installed"}
	}
	return path, nil
}
