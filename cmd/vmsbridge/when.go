package main

import (
	"fmt"
	"strings"
	"time"

	"vmsbridge/configs"
	"vmsbridge/uplink/vms"
)

// parseTime reads a time as people write it: the interface's form with any offset, local time
// without one, a time of day, which is the last such one, "now", "today", "yesterday", or how long
// ago.
func parseTime(text string, now time.Time) (time.Time, error) {
	text = strings.TrimSpace(text)
	y, m, d := now.Date()
	switch text {
	case "now":
		return now, nil
	case "today":
		return time.Date(y, m, d, 0, 0, 0, 0, now.Location()), nil
	case "yesterday":
		return time.Date(y, m, d-1, 0, 0, 0, 0, now.Location()), nil
	}
	if d, err := configs.ParseDuration(text); err == nil {
		if d < 0 {
			d = -d
		}
		return now.Add(-d), nil
	}
	if t, err := vms.ParseTime(text); err == nil {
		return t.Time, nil
	}
	for _, layout := range []string{"2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999",
		"2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02"} {
		if t, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return t, nil
		}
	}
	if t, ok := timeOfDay(text, now); ok {
		return t, nil
	}
	return time.Time{}, fmt.Errorf("%q is not a time: write 2025-03-11T20:23:12.766+00:00, 2025-03-11 20:23 for "+
		"local time, 20:23:12 for the last such time, yesterday, 2d for two days ago, or 10m for ten minutes ago", text)
}

// parseUntil reads --until, the end of what begins at since: a time of day is the first such one
// after that.
func parseUntil(text string, since, now time.Time) (time.Time, error) {
	if t, ok := timeOfDay(strings.TrimSpace(text), since.In(now.Location()).AddDate(0, 0, 1)); ok {
		return t, nil
	}
	t, err := parseTime(text, now)
	switch {
	case err != nil:
		return t, fmt.Errorf("--until: %w", err)
	case t.Before(since):
		return t, fmt.Errorf("--until: %v is before --since, %v", vms.At(t), vms.At(since))
	}
	return t, nil
}

// timeOfDay is the last moment until now with that time on the clock.
func timeOfDay(text string, now time.Time) (time.Time, bool) {
	for _, layout := range []string{"15:04:05.999999999", "15:04"} {
		if t, err := time.Parse(layout, text); err == nil {
			y, m, d := now.Date()
			at := time.Date(y, m, d, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), now.Location())
			if at.After(now) {
				at = time.Date(y, m, d-1, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), now.Location())
			}
			return at, true
		}
	}
	return time.Time{}, false
}
