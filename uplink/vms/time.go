package vms

import (
	"encoding/json"
	"fmt"
	"time"
)

// Layout is the one form in which times leave us: UTC, milliseconds, numeric offset. Its strings
// sort as the times do.
const Layout = "2006-01-02T15:04:05.000+00:00"

// Time is an instant as the interface writes it. It keeps milliseconds; the zero value is "not
// set".
type Time struct{ time.Time }

// At is t in UTC, cut to the millisecond that the wire carries, so that a time compares equal after
// a round trip.
func At(t time.Time) Time { return Time{t.UTC().Truncate(time.Millisecond)} }

// Ptr is At(t) as a pointer, for EndTimestamp.
func Ptr(t time.Time) *Time { v := At(t); return &v }

// String is the wire form.
func (t Time) String() string { return t.UTC().Format(Layout) }

// MarshalJSON writes the wire form.
func (t Time) MarshalJSON() ([]byte, error) { return json.Marshal(t.String()) }

// UnmarshalJSON reads what ParseTime accepts.
func (t *Time) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("timestamp must be a string such as 2025-03-11T20:23:12.766+00:00")
	}
	v, err := ParseTime(s)
	if err != nil {
		return err
	}
	*t = v
	return nil
}

// ParseTime reads an ISO 8601 time with any offset or Z and any number of fractional digits, and
// cuts it to the millisecond. A plus sign that arrived as a space (an unescaped + in a URL) is
// accepted. A time without an offset could be anywhere in a day, and is not one.
func ParseTime(s string) (Time, error) {
	t, err := ParseInstant(s)
	if err != nil {
		return Time{}, err
	}
	return At(t), nil
}

// ParseInstant reads what ParseTime does and keeps nine digits. The result is in UTC and between
// the years 1 and 9999.
func ParseInstant(s string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339Nano, s) // what nearly all are, and fast
	ok := err == nil
	if !ok {
		t, ok = parseISO(s)
	}
	if t = t.UTC(); !ok || t.Year() < 1 || t.Year() > 9999 {
		return time.Time{}, fmt.Errorf("%.40q is not an ISO 8601 time with an offset, such as "+
			"2025-03-11T20:23:12.766+00:00", s)
	}
	return t, nil
}
