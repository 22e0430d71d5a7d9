//go:build race

package main

// underRace: the race detector makes pixels ten times as slow.
const underRace = true
