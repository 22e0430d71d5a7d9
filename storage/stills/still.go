package stills

import (
	"time"
)

// Still is a stored picture.
type Still struct {
	Camera string    // id, 1 to 255 bytes
	Kind   Kind      // which stream it is from
	Time   time.Time // capture time; nanoseconds are kept, and it comes back in UTC. Years 1678 to 2262
	JPEG   []byte    // the file; not looked into
}
