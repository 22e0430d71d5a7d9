package stills

import (
	"time"

	"vmsbridge/storage/stills/segment"
)

// member is a segment of the ring: its file, what the index has of it, and what the ring guards of
// it. Once it is in the ring, its fields do not change, except where a lock is named.
type member struct {
	// Era and Shift are changed by index.Settle only, under the index' lock; who reads them without
	// keeps Settle from running.
	segment.File
	broken error // why nothing of it can be read

	// The index' lock guards this.
	gone bool // it left the index

	// Ring.appendMu guards these.
	dead     bool            // left the index, but its file could not be deleted yet
	told     bool            // the log says so
	writer   *segment.Writer // through which it is written or waits to be flushed; nil or closed otherwise
	sealedAt int64           // when it was full, by the clock of that time; 0: not known
	sealedUp time.Duration   // the same by the uptime of this process, if this process filled it; else 0
}

// isActive says whether a segment is being written.
func (r *Ring) isActive(m *member) bool { return r.lanes[m.Lane].seg == m }

// totalLocked is what the segments take on disk.
func (r *Ring) totalLocked() (total int64) {
	for _, m := range r.segments {
		total += m.Size
	}
	return total
}

// age is for how long a segment has been full. One that an earlier process filled counts by the
// wall clock; a time in the future counts as now.
func (m *member) age(wall time.Time, up time.Duration) time.Duration {
	switch {
	case m.sealedUp > 0:
		return up - m.sealedUp
	case m.sealedAt == 0:
		return 0
	}
	return max(0, wall.Sub(time.Unix(0, m.sealedAt)))
}
