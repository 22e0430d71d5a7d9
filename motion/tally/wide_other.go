//go:build (!amd64 && !arm64) || purego

package tally

// Without vectors nothing is done ahead of the plain loops.

func stepsWide(x, y, skip, to []uint16) (done int) { return 0 }

func atMostWide(values, skip []uint16, limit uint16) (found int) {
	return atMostPlain(values, skip, limit)
}

func withoutWide(to, from, skip []uint16) (done int) { return 0 }
