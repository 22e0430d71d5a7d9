//go:build !amd64 || purego

package tally

import "testing"

// everyWidth runs a test with the only vectors that there are.
func everyWidth(t *testing.T, test func(t *testing.T)) { test(t) }
