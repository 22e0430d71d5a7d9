package tamper

import (
	"slices"
	"time"
)

const (
	fewPictures = 4               // in a slot at least
	quarter     = blocks / 4      // tiles: those that change least
	clockTiles  = 4               // those that change most: a clock may be in them
	restShare   = 0.25            // of the usual liveliness, at which all others rest
	stirShare   = 0.6             // above, it does not
	restAfter   = 8 * time.Second // of slots that do not rest, before rest says anything
	// of the pictures: where the quieter tiles change in fewer, only keyframes are seen, and those
	// may become rare
	leastLively = 0.15
	livelyFade  = 60.0 // seconds, in which the usual liveliness grows; it falls at once
)

// rest tells a frozen source from a quiet scene. Noise changes nearly every tile of every picture,
// or, where the encoder repeats some blocks of each, never none: the quieter tiles, those in which
// nothing moves, still change in a share of the pictures. When they and all others stop doing so,
// at once and for longer than ever before, nothing but the encoder's own keyframes, or a clock, is
// left of the picture.
type rest struct {
	counts [blocks]int   // pictures of the slot in which the tile changed
	usual  float64       // share of the pictures in which the quieter tiles change
	lively time.Duration // of slots that did not rest
	long   time.Duration // of slots that rest, up to now
	known  time.Duration // the longest that turned out to be none
	halves int           // slots in a row that were neither
	since  time.Time     // when it began to rest, or to rest by half
}

// count takes a picture.
func (r *rest) count(changed *[blocks]bool) {
	for b, c := range changed {
		if c {
			r.counts[b]++
		}
	}
}

// close judges a slot of some pictures, the first quiet one of which came at a time. It tells
// whether the source has been at rest for too long; frozen is what was told before. drifted: the
// light changed in all of the picture.
func (r *rest) close(pictures int, length time.Duration, drifted, frozen bool, first time.Time) bool {
	sorted := r.counts
	r.counts = [blocks]int{}
	slices.Sort(sorted[:])
	share, most := float64(sorted[quarter])/float64(pictures), float64(sorted[blocks-1-clockTiles])/float64(pictures)
	switch {
	case drifted && !frozen:
		r.long, r.halves, r.since = 0, 0, time.Time{}
	case r.usual > 0 && most <= restShare*r.usual:
		r.begin(first)
		r.long += length
		r.halves = 0
	case share < stirShare*r.usual && r.halves < halfSlots:
		r.begin(first)
		r.halves++
	default:
		if !frozen {
			r.known = max(r.known, r.long)
		}
		// it rests now and then: only keyframes are seen, or noise has its pauses
		if r.long > 0 || share < leastLively {
			r.lively, r.usual = 0, 0
		}
		r.long, r.halves, r.since = 0, 0, time.Time{}
		r.lively = min(r.lively+length, time.Hour)
		if share < r.usual || r.usual == 0 {
			r.usual = share
		} else {
			r.usual += (share - r.usual) * min(1, length.Seconds()/livelyFade)
		}
	}
	return r.usual >= leastLively && r.lively >= restAfter && r.long >= max(stillFor, r.known*3/2+2*time.Second)
}

// begin remembers when rest began, if it begins now and there is a quiet picture.
func (r *rest) begin(first time.Time) {
	if r.since.IsZero() {
		r.since = first
	}
}
