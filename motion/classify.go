package motion

import "vmsbridge/motion/plane"

// The bits of a cell's flags.
const (
	cellFore  = plane.Fore  // differs from the background
	cellMoved = plane.Moved // differs from a moment ago
)

// The caps of the learned noise, in 1/256 grey levels: in general, so that a cell does not become
// blind, and for what flickers all by itself.
const (
	maxNoise  = 9 << 8
	twigNoise = 45 << 8
)

// threshold is what a cell must differ by, in 1/256 grey levels.
func threshold(contrast int32, noise uint16) int32 { return plane.Threshold(contrast, noise) }

func abs32(v int32) int32 { return plane.Abs(v) }
