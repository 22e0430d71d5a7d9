//go:build race

package contour

// underRace: the race detector slows the pixel loops down twentyfold.
const underRace = true
