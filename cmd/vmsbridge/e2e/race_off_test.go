//go:build !race

package e2e

// raceEnabled: the programs under test are built as the test itself is.
const raceEnabled = false
