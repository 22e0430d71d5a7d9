package main

import (
	"slices"
	"time"

	"vmsbridge/scripts/lab/chart"
)

// candidate is a picture that may be shown of a span.
type candidate struct {
	still chart.Still
	share float64 // of the picture that moved
}

const (
	// how far the begin of a span may lie before the picture that confirms it, and some more
	sightsBack = 3 * time.Second
	keptSights = 32 // bounds the candidates; the newest show most
)

// sights are the pictures that may be shown of the span that is open, or of one that comes: where a
// span began is only known when it is confirmed, and where it ended some time after it did. They
// are in the order of time.
type sights struct {
	kept []candidate
	open bool // a span is open: each candidate since its begin shows more motion than those before it
}

// wants tells whether a picture in which this share moves may be shown. Stills are costly to make.
func (s *sights) wants(share float64) bool {
	n := len(s.kept)
	return share > 0 && (!s.open || n == 0 || share > s.kept[n-1].share)
}

// add takes a picture that wants asked for.
func (s *sights) add(c candidate) {
	if !s.open {
		s.drop(c.still.At - sightsBack)
	}
	if len(s.kept) == keptSights {
		s.kept = slices.Delete(s.kept, 0, 1)
	}
	s.kept = append(s.kept, c)
}

// begin tells that a span began at a time, which may be some pictures ago.
func (s *sights) begin(start time.Duration) {
	s.drop(start)
	s.open = true
	most := 0.0
	s.kept = slices.DeleteFunc(s.kept, func(c candidate) bool {
		less := c.share <= most
		most = max(most, c.share)
		return less
	})
}

// end takes the picture in which most moved out of those of a span that ended at a time; its Luma
// is nil without one. The pictures that came later are kept for the next span.
func (s *sights) end(end time.Duration) chart.Still {
	n := len(s.kept)
	for n > 0 && s.kept[n-1].still.At > end {
		n--
	}
	var best chart.Still
	if n > 0 {
		best = s.kept[n-1].still
	}
	s.kept, s.open = slices.Delete(s.kept, 0, n), false
	return best
}

// drop leaves out the candidates before a time.
func (s *sights) drop(before time.Duration) {
	n := 0
	for n < len(s.kept) && s.kept[n].still.At < before {
		n++
	}
	s.kept = slices.Delete(s.kept, 0, n)
}
