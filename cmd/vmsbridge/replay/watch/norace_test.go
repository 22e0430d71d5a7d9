//go:build !race

package watch

const underRace = false
