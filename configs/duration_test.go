package configs

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestParseDuration(t *testing.T) {
	const day = 24 * time.Hour
	for text, want := range map[string]time.Duration{
		"2d": 2 * day, "1w": 7 * day, "1d12h": 36 * time.Hour, "-2d": -2 * day, "0.5d": 12 * time.Hour, "1w1d": 8 * day,
		"90m": 90 * time.Minute, "500ms": 500 * time.Millisecond, "0": 0, "0d": 0, "-10m": -10 * time.Minute,
		"30d": 720 * time.Hour, "36500d": 36500 * day,
	} {
		got, err := ParseDuration(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "d", "2", "2x", "1d-2h", "1d2d", "2 d", "999999d", "7days", "1h2d", "w", "--2d"} {
		_, err := ParseDuration(text)
		require.ErrorContains(t, err, "write a number with a unit", "%q", text)
	}
}
