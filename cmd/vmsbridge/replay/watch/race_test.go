//go:build race

package watch

// underRace: the race detector slows the pixel loops down twentyfold.
const underRace = true
