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
		"14:30":                         now,
		"15:04":                         time.Date(2026, 3, 4, 15, 4, 0, 0, zone),
		"14:30:00.5":                    time.Date(2026, 3, 4, 14, 30, 0, 5e8, zone),
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

// A night is written as 22:00 to 06:00, at any hour.
func TestParseUntil(t *testing.T) {
	zone := time.FixedZone("CET", 3600)
	day := func(d, hour int) time.Time { return time.Date(2026, 3, d, hour, 0, 0, 0, zone) }
	for name, c := range map[string]struct {
		now                time.Time
		since, until       string
		wantSince, wantEnd time.Time
	}{
		"the next morning":         {day(5, 14), "22:00", "06:00", day(4, 22), day(5, 6)},
		"before the morning":       {day(5, 3), "22:00", "06:00", day(4, 22), day(5, 6)},
		"of today":                 {day(5, 14), "08:00", "10:00", day(5, 8), day(5, 10)},
		"not yet over":             {day(5, 14), "08:00", "23:00", day(5, 8), day(5, 23)},
		"both of yesterday":        {day(5, 14), "15:00", "16:00", day(4, 15), day(4, 16)},
		"of a day":                 {day(5, 14), "2026-03-02", "06:00", day(2, 0), day(2, 6)},
		"of another zone":          {day(5, 14), "2026-03-01T23:00:00Z", "06:00", day(2, 0), day(2, 6)},
		"not a time of day: as is": {day(5, 14), "22:00", "2h", day(4, 22), day(5, 12)},
	} {
		since, err := parseTime(c.since, c.now)
		require.NoError(t, err, name)
		require.True(t, c.wantSince.Equal(since), "%s: since: got %v", name, since)
		until, err := parseUntil(c.until, since, c.now)
		require.NoError(t, err, name)
		require.True(t, c.wantEnd.Equal(until), "%s: until: got %v", name, until)
	}
	_, err := parseUntil("2026-03-01 06:00", day(2, 0), day(5, 14))
	require.ErrorContains(t, err, "2026-03-01T05:00:00.000+00:00 is before --since, 2026-03-01T23:00:00.000+00:00")
	_, err = parseUntil("3h", day(5, 12), day(5, 14))
	require.ErrorContains(t, err, "is before --since")
}
