// Package tally counts values of 16 bits, so that a median or a quartile is found by a few looks at
// all of them instead of a table of how often each occurs.
//
// It stands below motion, whose fits of the light look at some hundred cells of a picture; here
// nothing is decided. Each loop has a plain version in Go, which is the reference and runs
// everywhere, and one with vector instructions (SSE2 or AVX2 on amd64, NEON on arm64), which gives
// exactly the same. The build tag purego leaves the assembly out:
//
//	tally.Steps(before, now, skip, steps)              // by how many grey levels each has changed
//	dark := tally.AtMost(steps, skip, tally.Same-1)    // how many of them became darker
//
// Skip is 0 for a value that counts and 65535 for one that does not. Nothing is kept, nothing is
// allocated, and different goroutines may work on different slices.
package tally
