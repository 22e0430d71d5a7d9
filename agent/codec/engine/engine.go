// Package engine is the decoder itself, wherever it runs: access unit in; reduced luma, and a JPEG
// when asked for, out. In a decoder process agent/codec/worker drives it from a pipe; with
// decode.isolation none agent/codec calls it directly. Beneath it are avcodec (H.264, H.265), jpeg
// (MJPEG and all stills) and planar (pixels).
//
//	e := engine.New(engine.Options{})
//	d, err := e.Open(engine.H264, 57_600)
//	pictures, err := d.Decode(accessUnit, pts)
//	still, err := d.Still(pictures[0].PTS, 640, 80)
//	d.Close()
//
// Only bytes leave it, never a pointer into the memory of C.
package engine

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"vmsbridge/agent/codec/avcodec"
	"vmsbridge/agent/codec/confine"
	"vmsbridge/agent/codec/jpeg"
	"vmsbridge/agent/codec/steady"
)

// Format is a way in which a camera codes pictures.
type Format string

// The formats that are decoded.
const (
	H264  Format = "h264"
	H265  Format = "h265"
	MJPEG Format = "mjpeg"
)

// Picture is a decoded picture, reduced.
type Picture struct {
	PTS           int64 // as fed with its access unit
	Width, Height int   // of the picture itself, in pixels
	// LumaWidth×LumaHeight bytes, full range 0 to 255; owned by the receiver; all empty if none was
	// asked for
	Luma                  []byte
	LumaWidth, LumaHeight int
}

// UnsupportedError says that this machine cannot decode a format, and what to do about it.
type UnsupportedError struct {
	Format Format
	Reason string
	Hint   string // what the user can do; may be empty
}

func (e *UnsupportedError) Error() string {
	text := fmt.Sprintf("cannot decode %s: %s", e.Format, e.Reason)
	if e.Hint != "" {
		text += ": " + e.Hint
	}
	return text
}

// ErrGone says that a picture is no longer kept (or never came out).
var ErrGone = errors.New("the picture is no longer kept")

// MaxLuma is the largest reduced luma in pixels; more is cut to it.
const MaxLuma = 1 << 21

// Options of an Engine.
type Options struct {
	// searched for C libraries first; then where packages put those that come with the program,
	// then the system's folders
	LibraryDirs  []string
	PictureBytes int64 // the most that the pictures of one stream may take in memory; 0: no limit
	// Decoders of libavcodec by name, tried before its own: hardware, such as h264_v4l2m2m
	Decoders []string
}

// Engine holds the libraries of one process. They are loaded when first needed. Safe for concurrent
// use.
type Engine struct {
	dirs         []string // searched before the system's
	decoders     []string // by name
	pictureBytes int64
	room         atomic.Pointer[[]byte] // for the next still, of whichever decoder; nil: there is none, or it is in use

	mu     sync.Mutex      // guards what follows
	held   *confine.Report // of the process, once it can open no more files; nil before
	lib    *avcodec.Library
	libErr error
	// why decoders that were asked for by name are not taken
	refused map[string]error
	tried   time.Time // when libavcodec was last looked for
	jpegs   *jpeg.Codec
}

// New does nothing yet.
func New(o Options) *Engine {
	return &Engine{dirs: append(slices.Clone(o.LibraryDirs), shipped()...), decoders: o.Decoders,
		pictureBytes: o.PictureBytes}
}

// Load loads the libraries now, libavcodec only for video, and tests them. What is missing is told
// when it is asked for.
func (e *Engine) Load(video bool) {
	e.jpeg()
	if video {
		_, _ = e.library()
	}
}

// Confined notes what holds the process from now on: no library can be loaded any more.
func (e *Engine) Confined(r confine.Report) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.held = &r
	if e.lib == nil && e.libErr == nil {
		e.libErr = errors.New("this process was started without libavcodec")
	}
}

// retry is how long a missing libavcodec stays missing before it is looked for again, so that
// installing it is enough.
const retry = 30 * time.Second

func (e *Engine) library() (*avcodec.Library, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.lib == nil && e.held == nil && (e.tried.IsZero() || time.Since(e.tried) > retry) {
		e.lib, e.libErr = avcodec.Open(e.dirs)
		e.tried = time.Now()
		if e.lib != nil {
			e.refused = e.lib.Prefer(e.decoders)
		}
	}
	return e.lib, e.libErr
}

func (e *Engine) jpeg() *jpeg.Codec {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.jpegs == nil {
		e.jpegs = jpeg.Open(e.dirs)
	}
	return e.jpegs
}

// Functions are what package steady calls; none without libavcodec.
func (e *Engine) Functions() steady.Functions {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.lib == nil {
		return steady.Functions{}
	}
	return e.lib.Functions()
}

// Open opens a decoder whose pictures carry a luma of at most lumaPixels pixels, none if 0.
// *UnsupportedError: not here.
func (e *Engine) Open(f Format, lumaPixels int) (*Decoder, error) {
	d := &Decoder{format: f, lumaPixels: min(max(lumaPixels, 0), MaxLuma), jpegs: e.jpeg(), most: e.pictureBytes,
		lumaFrom: math.MinInt64, room: &e.room}
	switch f {
	case MJPEG:
		return d, nil
	case H264, H265:
	default:
		return nil, &UnsupportedError{Format: f, Reason: "the format is unknown",
			Hint: "switch the camera to H.264, H.265 or MJPEG"}
	}
	lib, err := e.library()
	if err != nil {
		return nil, &UnsupportedError{Format: f, Reason: err.Error(), Hint: avcodec.Hint}
	}
	if err := lib.Supports(codecOf[f]); err != nil {
		return nil, &UnsupportedError{Format: f, Reason: err.Error(), Hint: avcodec.Hint}
	}
	if d.video, err = lib.NewDecoder(codecOf[f], true); err != nil {
		return nil, err
	}
	d.own = func() (*avcodec.Decoder, error) { return lib.NewDecoder(codecOf[f], false) }
	if d.most != 0 {
		d.bound()
	}
	return d, nil
}

var codecOf = map[Format]avcodec.Codec{H264: avcodec.H264, H265: avcodec.H265}
