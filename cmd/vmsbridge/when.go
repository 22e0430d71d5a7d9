package main

import (
	"fmt"
	"strings"
	"time"

	"vmsbridge/uplink/vms"
)

// parseTime reads a time as people write it: the interface's form with any offset, local time without one, a time of
// today, "now", or how long ago.
func parseTime(text string, now time.Time) (time.Time, error) {
	text = strings.TrimSpace(text)
	if text == "now" {
		return now, nil
	}
	if d, err := time.ParseDuration(text); err == nil {
		if d < 0 {
			d = -d
		}
		return now.Add(-d), nil
	}
	if t, err := vms.ParseTime(text); err == nil {
		return t.Time, nil
	}
	for _, layout := range []string{"2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999", "2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02"} {
		if t, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return t, nil
		}
	}
	for _, layout := range []string{"15:04:05.999999999", "15:04"} {
		if t, err := time.Parse(layout, text); err == nil {
			y, m, d := now.Date()
			return time.Date(y, m, d, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), now.Location()), nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a time: write 2025-03-11T20:23:12.766+00:00, 2025-03-11 20:23 for local time, 20:23:12 for today, or 10m for ten minutes ago", text)
}
