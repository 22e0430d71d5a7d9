package accuracy_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestScored: what counts as found, false and late.
func TestScored(t *testing.T) {
	passages := []passage{{"quiet", 0, 5}, {"still", 5, 8}, {"motion", 8, 10}, {"quiet", 12, 20}}
	for name, c := range map[string]struct {
		events        []found
		found, alarms int
		onset         []float64
	}{
		"late":                   {[]found{{8.5, 10}}, 1, 0, []float64{0.5}},
		"while somebody stands":  {[]found{{6, 10}}, 1, 0, nil},
		"where all is quiet":     {[]found{{14, 15}}, 0, 1, nil},
		"quiet, and reaches it":  {[]found{{3, 10}}, 0, 1, nil},
		"stands, and begins not": {[]found{{6, 7}}, 0, 0, nil},
	} {
		a := scored(passages, c.events)
		require.Equal(t, c.found, a.found, name)
		require.Equal(t, c.alarms, a.alarms, name)
		require.InDeltaSlice(t, c.onset, a.onset, 1e-9, name)
	}
}
