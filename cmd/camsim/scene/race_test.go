//go:build race

package scene

// underRace shortens the long tests: the race detector slows the pixel loops down twentyfold, and there is no goroutine here.
const underRace = true
