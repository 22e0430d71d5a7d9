//go:build (amd64 || arm64) && !purego

package tally

// stepsWide is stepsPlain for as many as fill vectors; it returns how many it did.
//
//go:noescape
func stepsWide(x, y, skip, to []uint16) (done int)

// atMostWide is atMostPlain for a multiple of 16 and at most 65536 values.
//
//go:noescape
func atMostWide(values, skip []uint16, limit uint16) (found int)

// withoutWide is withoutPlain for as many as fill vectors; it returns how many it did.
//
//go:noescape
func withoutWide(to, from, skip []uint16) (done int)
