package model

import (
	"encoding/json"
	"errors"
	"time"
	_ "time/tzdata" // distributions leave US/Pacific and its like out of their zone files
)

// Flag is a yes or no that the interface prints as 1 or 0.
type Flag bool

// MarshalJSON prints 1 or 0.
func (f Flag) MarshalJSON() ([]byte, error) {
	if f {
		return []byte("1"), nil
	}
	return []byte("0"), nil
}

// UnmarshalJSON takes 1, 0, true, false and null.
func (f *Flag) UnmarshalJSON(raw []byte) error {
	switch string(raw) {
	case "1", "true":
		*f = true
	case "0", "false", "null":
		*f = false
	default:
		return errors.New("a flag must be 1 or 0")
	}
	return nil
}

// Texts is an array of string that prints as [] when empty, never as null.
type Texts []string

// MarshalJSON prints an array.
func (t Texts) MarshalJSON() ([]byte, error) {
	if t == nil {
		return []byte("[]"), nil
	}
	return json.Marshal([]string(t))
}

// Lists is an array of array of string that prints as [] when empty, never as null.
type Lists [][]string

// MarshalJSON prints an array of arrays.
func (l Lists) MarshalJSON() ([]byte, error) {
	if l == nil {
		return []byte("[]"), nil
	}
	return json.Marshal([][]string(l))
}

// Object is free JSON that prints as {} when it was never set.
type Object json.RawMessage

// MarshalJSON prints what was set.
func (o Object) MarshalJSON() ([]byte, error) {
	if len(o) == 0 {
		return []byte("{}"), nil
	}
	return o, nil
}

// UnmarshalJSON keeps a copy.
func (o *Object) UnmarshalJSON(raw []byte) error {
	*o = append(Object{}, raw...)
	return nil
}

// stampLayout is YYYYMMDDHHMMSS.NNN, as records have it.
const stampLayout = "20060102150405.000"

// Stamp prints a time as the records do, in UTC; the zero time prints as "".
func Stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(stampLayout)
}

// DefaultZone is the interfaceed default of timezone.
const DefaultZone = "US/Pacific"

// Zone finds a timezone by its name in the IANA database, old names such as US/Pacific included. An
// unknown one is UTC, since a record must stay readable.
func Zone(name string) *time.Location {
	if loc, err := time.LoadLocation(name); err == nil && name != "" && name != "Local" {
		return loc
	}
	return time.UTC
}

// Offset is how many seconds a timezone is ahead of UTC at a time.
func Offset(zone string, at time.Time) int {
	_, seconds := at.In(Zone(zone)).Zone()
	return seconds
}

// ReadStamp reads what Stamp prints; ok is false for "" and what is none.
func ReadStamp(s string) (t time.Time, ok bool) {
	t, err := time.Parse(stampLayout, s)
	return t, err == nil
}
