//go:build !race

package scene

const underRace = false
