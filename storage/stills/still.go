package stills

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Still is a stored picture.
type Still struct {
	Camera string    // id, 1 to 255 bytes
	Kind   Kind      // which stream it is from
	Time   time.Time // capture time; nanoseconds are kept, and it comes back in UTC. Years 1678 to 2262
	JPEG   []byte    // the file; not looked into
}

// Kind says which stream a still is from.
type Kind uint8

// The kinds.
const (
	Preview Kind = 1 // from the stream used for motion
	Main    Kind = 2 // full resolution
)

func (k Kind) String() string {
	switch k {
	case Preview:
		return "preview"
	case Main:
		return "main"
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// ParseKind reads "preview" or "main".
func ParseKind(s string) (Kind, error) {
	switch s {
	case "preview":
		return Preview, nil
	case "main":
		return Main, nil
	}
	return 0, fmt.Errorf("type %q: must be preview or main", s)
}

// Op is how a still's time must relate to the time asked for. Of those that do, the nearest is meant.
type Op uint8

// The operators.
const (
	Before     Op = iota + 1 // the newest still strictly before
	AtOrBefore               // the newest still not after
	At                       // the still of exactly this nanosecond
	AtOrAfter                // the oldest still not before
	After                    // the oldest still strictly after
)

func (o Op) String() string {
	switch o {
	case Before:
		return "before"
	case AtOrBefore:
		return "at or before"
	case At:
		return "at"
	case AtOrAfter:
		return "at or after"
	case After:
		return "after"
	}
	return fmt.Sprintf("op(%d)", uint8(o))
}

// ErrInvalid is wrapped by the errors for arguments that can never be stored or found.
var ErrInvalid = errors.New("invalid still")

// maxCamera is the longest camera id in bytes: its length is stored in one.
const maxCamera = 255

func checkCamera(camera string) error {
	switch {
	case camera == "":
		return fmt.Errorf("%w: the camera id is empty", ErrInvalid)
	case len(camera) > maxCamera:
		return fmt.Errorf("%w: the camera id has %d bytes, more than %d", ErrInvalid, len(camera), maxCamera)
	}
	return nil
}

func checkKind(k Kind) error {
	if k != Preview && k != Main {
		return fmt.Errorf("%w: unknown %s", ErrInvalid, k)
	}
	return nil
}

// The times whose nanoseconds since 1970 fit 64 bits; the smallest number stands for "no end" in gaps.
var (
	minTime = time.Unix(0, math.MinInt64+1)
	maxTime = time.Unix(0, math.MaxInt64)
)

// nanos is t's nanoseconds since 1970.
func nanos(t time.Time) (int64, error) {
	if t.Before(minTime) || t.After(maxTime) {
		return 0, fmt.Errorf("%w: the time %s is outside of the years 1678 to 2262", ErrInvalid, t.Format(time.RFC3339))
	}
	return t.UnixNano(), nil
}

// clampNanos is nanos for a question: a time beyond the range stands for the range's end.
func clampNanos(t time.Time) int64 {
	switch {
	case t.Before(minTime):
		return math.MinInt64 + 1
	case t.After(maxTime):
		return math.MaxInt64
	}
	return t.UnixNano()
}

func nanosTime(ns int64) time.Time { return time.Unix(0, ns).UTC() }
