// Package avcodec decodes H.264 and H.265 with the libavcodec of the machine, found at run time by
// dlopen, so that no build needs FFmpeg and one binary serves every distribution. It is used by
// agent/codec/engine and knows nothing of processes:
//
//	lib, err := avcodec.Open(nil)             // finds, loads, tests
//	dec, err := lib.NewDecoder(avcodec.H264, false)
//	frames, err := dec.Decode(accessUnit, pts)
//	img, err := frames[0].Image() // points into libavcodec's memory until frames[0].Close
//
// libavcodec's structures differ between its major versions. Read here are only the head of AVFrame
// (data, linesize, width, height, format), which has not moved from major 58 to 62, and the fields
// of AVPacket; everything else goes through av_opt_set and av_opt_get_int by name. Whether
// presentation times sit where they are expected is found out by the test that every library must
// pass before it is used (selftest.go).
//
// A bug in libavcodec can still end the process: run it where that is allowed to happen.
package avcodec

import (
	"errors"
	"fmt"
	"strings"
)

// Codec names a decoder of libavcodec.
type Codec string

// The codecs that this package decodes.
const (
	H264 Codec = "h264"
	H265 Codec = "hevc"
)

// MissingError says that no usable libavcodec was found, with what was tried.
type MissingError struct {
	Tried []string // a sentence for each library that was found but not usable
}

// Hint says what the user can do.
const Hint = "install FFmpeg's libavcodec (Debian 12: apt install libavcodec59; elsewhere the package whose name " +
	"begins with libavcodec)"

func (e *MissingError) Error() string {
	if len(e.Tried) == 0 {
		return fmt.Sprintf("no libavcodec with a version from %d to %d was found", majors[len(majors)-1], majors[0])
	}
	return "no usable libavcodec: " + strings.Join(e.Tried, "; ")
}

// ErrFormat marks pictures in a pixel format that is not supported; the message names it.
var ErrFormat = errors.New("unsupported pixel format")

// The FFmpeg error codes that mean something here: EAGAIN negated, and the letters "EOF " negated.
const (
	errAgain = -11
	errEOF   = -0x20464f45
)

// avError is a failure that libavcodec reported.
type avError struct {
	code int32
	text string
}

func (e avError) Error() string { return fmt.Sprintf("%s (%d)", e.text, e.code) }
