//go:build !purego

package tally

import "testing"

// everyWidth runs a test with all vectors that this processor has, so that those of older ones are
// tested too.
func everyWidth(t *testing.T, test func(t *testing.T)) {
	if hasAVX2 {
		t.Run("256", test)
		hasAVX2 = false
		defer func() { hasAVX2 = true }()
	}
	t.Run("128", test)
}
