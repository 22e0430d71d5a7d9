package pipeline

import (
	"time"

	"vmsbridge/agent/codec"
	"vmsbridge/storage/stills"
)

// What is held of a motion that is not confirmed yet: about as far as the detector looks back from
// there, a few seconds. A setting (motion.min_duration) may take longer; what falls out of the
// window is then stored as if it were motion.
const (
	maxPreviews = 32
	maxMains    = 12
	mainSpacing = 250 * time.Millisecond // between two full-resolution ones that are held: they are large
)

// candidates are the pictures of a motion that is not confirmed yet. Most come to nothing, and most
// of those soon: while the decoder still keeps a picture, no JPEG is made of it.
type candidates struct {
	next, came      int            // the number of the picture that is looked at, and of the newest in the decoder
	pictures        []undeveloped  // by time, after those below
	previews, mains []stills.Still // by time
	lastMain        time.Time      // of the newest of mains, or of pictures that is to be one
}

type undeveloped struct {
	picture codec.Picture // without its luma
	time    time.Time
	number  int
	main    bool // in full resolution, too
}

func (c *candidates) drop() { c.pictures, c.previews, c.mains = c.pictures[:0], nil, nil }
