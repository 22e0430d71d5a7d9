// Package footage reads recorded pictures with their times: clips of any form that the ffmpeg
// program reads. It is the first stage of vmsbridge replay, in the place that agent/camera and
// agent/codec have in the bridge, and hands full-size luma to
// a replay.Watch:
//
//	f, err := footage.Open(ctx, "yard.mp4", footage.Options{})
//	defer f.Close()
//	for {
//		p, err := f.Next() // io.EOF after the last
//		…
//	}
//
// A clip's luma leaves ffmpeg as it was decoded, unscaled and in its own range and bit depth, so
// that it can be reduced by the same code as a camera's. New takes pictures of another source: the
// lab reads folders of images so.
package footage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"vmsbridge/agent/codec/planar"
)

// DefaultRate is how many pictures a second are taken for shown where neither the source nor the
// caller says it.
const DefaultRate = 25

// Options of Open.
type Options struct {
	// Rate is the pictures a second of a source without times: a folder of images, a raw stream. 0:
	// what the stream says of itself, else DefaultRate. A clip with times of its own keeps them.
	Rate float64
}

// Picture is one picture of a source.
type Picture struct {
	// Number counts the pictures from 0, in the order in which they are shown.
	Number int
	// Digits is the number in an image's name, with its zeros, and no other image of the series has
	// it; "" in a clip, and where the names do not tell the images apart.
	Digits string
	// At is when it is shown, since the first picture. It rises from picture to picture.
	At time.Duration
	// Image holds the luma alone, in the source's size. Its bytes are valid until the next call of
	// Next. It is empty where Damaged is not nil.
	Image planar.Image
	// Damaged says why the picture could not be decoded.
	Damaged error
}

// Info describes a source before its pictures are read.
type Info struct {
	Pictures int           // 0 if unknown
	Length   time.Duration // 0 if unknown
	Rate     float64       // pictures a second, roughly where it varies; 0 if unknown
	Timed    bool          // it has times of its own: Options.Rate was of no use
}

// Footage is an open source. It is not safe for concurrent use, but Close may be called once while
// Next blocks.
type Footage struct {
	Info Info
	from Source
}

// Source is where pictures come from: a clip, or something else of which New makes Footage. Next
// and Complaint are called by one goroutine, Close once, maybe while Next blocks.
type Source interface {
	Next() (Picture, error)
	Complaint() string
	Close()
}

// New makes Footage of a source.
func New(info Info, from Source) *Footage { return &Footage{info, from} }

// Open starts to read a clip. Canceling ctx ends the reading; what was started is gone after Close.
// Errors name the file and say what to do.
func Open(ctx context.Context, path string, o Options) (*Footage, error) {
	st, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist) && strings.Contains(path, "://"):
		return nil, fmt.Errorf("open %s: replay reads files; what a camera offers is said by vmsbridge probe", path)
	case errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("open %s: there is no such file or folder", path)
	case err != nil:
		return nil, fmt.Errorf("open clip: %w", err)
	case st.IsDir():
		return nil, fmt.Errorf("open %s: it is a folder; give a clip, or have the images in it read by lab replay "+
			"(scripts/build makes it)", path)
	case !st.Mode().IsRegular():
		return nil,
			fmt.Errorf("open %s: replay reads files, and this is a pipe or a device: save what comes from it first",
				path)
	case st.Size() == 0:
		return nil, fmt.Errorf("open %s: the file is empty; copy it again", path)
	}
	return openClip(ctx, path, o)
}

// ErrSingle says that a file is an image.
var ErrSingle = errors.New("it is a single image; give a clip, or the folder that it lies in to lab replay " +
	"(scripts/build makes it)")

// Next reads the next picture; io.EOF after the last. Another error says why the source ended
// early; the pictures before it were good.
func (f *Footage) Next() (Picture, error) { return f.from.Next() }

// Complaint is what was wrong with a source that could be read to its end all the same; "" if
// nothing was.
func (f *Footage) Complaint() string { return f.from.Complaint() }

// Close ends the reading and waits for what was started.
func (f *Footage) Close() { f.from.Close() }

// clock gives the pictures their times since the first, always later than the one before: files
// without good times exist.
type clock struct {
	step  time.Duration // between pictures where the times are of no use
	first time.Duration
	last  time.Duration
	begun bool
}

func (c *clock) at(t time.Duration) time.Duration {
	if !c.begun {
		c.begun, c.first, c.last = true, t, 0
		return 0
	}
	t -= c.first
	if t <= c.last {
		// The file's times stand still or go back: it goes on at the usual pace from here.
		next := c.last + c.step
		c.first -= next - t
		t = next
	}
	c.last = t
	return t
}

// Interval is the time between two pictures, of which there are so many a second.
func Interval(rate float64) time.Duration {
	return max(time.Microsecond, time.Duration(float64(time.Second)/rate))
}
