package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestParseTime(t *testing.T) {
	zone := time.FixedZone("CET", 3600)
	now := time.Date(2026, 3, 5, 14, 30, 0, 0, zone)
	for text, want := range map[string]time.Time{
		"now":                           now,
		"today":                         time.Date(2026, 3, 5, 0, 0, 0, 0, zone),
		"yesterday":                     time.Date(2026, 3, 4, 0, 0, 0, 0, zone),
		"2d":                            now.Add(-48 * time.Hour),
		"7d":                            now.Add(-7 * 24 * time.Hour),
		"1w":                            now.Add(-7 * 24 * time.Hour),
		"10m":                           now.Add(-10 * time.Minute),
		"-10m":                          now.Add(-10 * time.Minute),
		"1h30m":                         now.Add(-90 * time.Minute),
		"0s":                            now,
		"2025-03-11T20:23:12.766+00:00": time.Date(2025, 3, 11, 20, 23, 12, 766e6, time.UTC),
		"2025-03-11T20:23:12.766 00:00": time.Date(2025, 3, 11, 20, 23, 12, 766e6, time.UTC),
		"2025-03-11T20:23:12Z":          time.Date(2025, 3, 11, 20, 23, 12, 0, time.UTC),
		"2025-03-11T20:23:12.5":         time.Date(2025, 3, 11, 20, 23, 12, 5e8, zone),
		"2025-03-11 20:23":              time.Date(2025, 3, 11, 20, 23, 0, 0, zone),
		" 2025-03-11 ":                  time.Date(2025, 3, 11, 0, 0, 0, 0, zone),
		"08:15":                         time.Date(2026, 3, 5, 8, 15, 0, 0, zone),
		"08:15:03.25":                   time.Date(2026, 3, 5, 8, 15, 3, 25e7, zone),
	} {
		got, err := parseTime(text, now)
		require.NoError(t, err, text)
		require.True(t, want.Equal(got), "%q: got %v, want %v", text, got, want)
	}
	for _, text := range []string{"", "noonish", "10", "25:00", "2025-13-01", "2025-02-30", "tomorrow"} {
		_, err := parseTime(text, now)
		require.ErrorContains(t, err, "is not a time", "%q", text)
	}
}
