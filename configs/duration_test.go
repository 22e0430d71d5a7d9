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

func TestFormatDuration(t *testing.T) {
	for want, d := range map[string]time.Duration{"30d": 720 * time.Hour, "36h": 36 * time.Hour, "2h": 2 * time.Hour,
		"10m": 10 * time.Minute, "10h": 10 * time.Hour, "20s": 20 * time.Second,
		"1m": time.Minute, "1h30m": 90 * time.Minute, "10s": 10 * time.Second, "500ms": 500 * time.Millisecond,
		"1m30s": 90 * time.Second, "0s": 0} {
		require.Equal(t, want, FormatDuration(d))
	}
}
