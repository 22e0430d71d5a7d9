// Package codec turns access units into pictures and pictures into JPEG stills, in decoder
// processes of its own, so that a crash or a hang of a C library costs a camera less than a second
// and the other cameras nothing. It stands between agent/camera, whose access units it takes, and
// motion and storage/stills, which get the reduced luma and the JPEGs.
//
//	func main() {
//		codec.RunWorker() // first: in a decoder process it never returns
//		pool := codec.NewPool(codec.Options{Log: log, Registerer: registry})
//		defer pool.Close()
//		dec := pool.Open("gate", codec.H264, 57_600)
//		defer dec.Close()
//		pictures, err := dec.Decode(ctx, accessUnit, captureTime.UnixMicro())
//		still, err := dec.Still(ctx, pictures[0].PTS, 640, 80)
//	}
//
// A pool starts the same binary again, with an environment variable, for a few cameras at a time.
// Beneath it are worker (the pipe to a process), steady (the part of worker's loop that is in C),
// confine (what a process may not do), engine (the decoder, wherever it runs), avcodec, jpeg and
// planar. steady, avcodec and jpeg are the only packages of the project that call C.
package codec

import (
	"errors"

	"vmsbridge/agent/codec/confine"
	"vmsbridge/agent/codec/engine"
	"vmsbridge/agent/codec/jpeg"
	"vmsbridge/agent/codec/steady"
)

// Format is a way in which a camera codes pictures.
type Format = engine.Format

// The formats that are decoded.
const (
	H264  = engine.H264
	H265  = engine.H265
	MJPEG = engine.MJPEG
)

// Picture is a decoded picture: its time, its size and its reduced luma.
type Picture = engine.Picture

// Kept is how many of the last pictures of a decoder Still answers at least.
const Kept = steady.Kept

// UnsupportedError says that this machine cannot decode a format, and what to install.
type UnsupportedError = engine.UnsupportedError

// Capability and Capabilities say what serves each format, or what is missing.
type (
	Capability   = engine.Capability
	Capabilities = engine.Capabilities
)

// Confinement says what holds the decoder processes, and what this machine lacks for it.
type Confinement = confine.Report

// Errors of a Decoder that a caller acts on.
var (
	// ErrLost says that the decoder process ended, was killed or hung, or may not start again yet.
	// Everything is as after Open: feed from a keyframe.
	ErrLost = errors.New("the decoder was lost")
	// ErrGone says that Still was asked for a picture that is no longer kept.
	ErrGone = engine.ErrGone
	// ErrClosed says that the decoder or its pool was closed.
	ErrClosed = errors.New("the decoder is closed")
)

// CheckJPEG reads a JPEG's markers, without decoding, and answers its size: from SOI to EOI,
// baseline, at most 40 megapixels, in colours that are usual. It is for pictures that are stored
// byte for byte. Damage within the coded data is not noticed.
func CheckJPEG(data []byte) (w, h int, err error) {
	header, err := jpeg.Check(data)
	return header.Width, header.Height, err
}
