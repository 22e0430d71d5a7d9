package camera

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestToSecond(t *testing.T) {
	second := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for at, want := range map[time.Duration]time.Duration{
		0: time.Second, time.Nanosecond: time.Second - 1, 300 * time.Millisecond: 700 * time.Millisecond,
		900 * time.Millisecond: 100 * time.Millisecond, 950 * time.Millisecond: 1050 * time.Millisecond,
	} {
		require.Equal(t, want, toSecond(second.Add(at)), "%v", at)
	}
}
