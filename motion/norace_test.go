//go:build !race

package motion_test

const underRace = false
