//go:build !race

package harness

// Race reports whether the tests run under the race detector, which makes loops over pixels ten to
// twenty times as slow.
const Race = false
