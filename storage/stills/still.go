package stills

import (
	"time"

	"vmsbridge/storage/stills/segment"
)

// Still is a stored picture.
type Still struct {
	Camera string    // id, 1 to 255 bytes
	Kind   Kind      // which stream it is from
	Time   time.Time // capture time; nanoseconds are kept, and it comes back in UTC. Years 1678 to 2262
	JPEG   []byte    // the file; not looked into
}

// Kind says which stream a still is from.
type Kind = segment.Kind

// The kinds.
const (
	Preview = segment.Preview // from the stream used for motion
	Main    = segment.Main    // full resolution
)

// ParseKind reads "preview" or "main".
func ParseKind(s string) (Kind, error) { return segment.ParseKind(s) }

// ErrInvalid is wrapped by the errors for arguments that can never be stored or found.
var ErrInvalid = segment.ErrInvalid
