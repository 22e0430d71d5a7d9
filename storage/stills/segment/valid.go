package segment

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// ErrInvalid is wrapped by the errors for arguments that can never be stored or found.
var ErrInvalid = errors.New("invalid still")

// maxCamera is the longest camera id in bytes: its length is stored in one.
const maxCamera = 255

// CheckCamera says whether a camera's id can be stored: 1 to 255 bytes. The error is an ErrInvalid.
func CheckCamera(camera string) error {
	switch {
	case camera == "":
		return fmt.Errorf("%w: the camera id is empty", ErrInvalid)
	case len(camera) > maxCamera:
		return fmt.Errorf("%w: the camera id has %d bytes, more than %d", ErrInvalid, len(camera), maxCamera)
	}
	return nil
}

// CheckKind says whether a kind is one of the two. The error is an ErrInvalid.
func CheckKind(k Kind) error {
	if k != Preview && k != Main {
		return fmt.Errorf("%w: unknown %s", ErrInvalid, k)
	}
	return nil
}

// The times whose nanoseconds since 1970 fit 64 bits; the smallest number stands for "no end" in
// gaps.
var (
	minTime = time.Unix(0, math.MinInt64+1)
	maxTime = time.Unix(0, math.MaxInt64)
)

// Nanos is t's nanoseconds since 1970. One that does not fit is an ErrInvalid.
func Nanos(t time.Time) (int64, error) {
	if t.Before(minTime) || t.After(maxTime) {
		return 0, fmt.Errorf("%w: the time %s is outside of the years 1678 to 2262", ErrInvalid, t.Format(time.RFC3339))
	}
	return t.UnixNano(), nil
}

// ClampNanos is Nanos for a question: a time beyond the range stands for the range's end.
func ClampNanos(t time.Time) int64 {
	switch {
	case t.Before(minTime):
		return math.MinInt64 + 1
	case t.After(maxTime):
		return math.MaxInt64
	}
	return t.UnixNano()
}

// Time is the time, in UTC, of so many nanoseconds since 1970.
func Time(ns int64) time.Time { return time.Unix(0, ns).UTC() }
