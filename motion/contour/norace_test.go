//go:build !race

package contour

const underRace = false
