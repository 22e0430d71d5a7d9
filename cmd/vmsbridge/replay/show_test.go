package replay

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Slow replays are told from standing ones.
func TestTimesText(t *testing.T) {
	require.Equal(t, []string{"0.4", "3.1", "53"}, []string{timesText(0.41), timesText(3.14), timesText(53.2)})
}
