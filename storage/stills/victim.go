package stills

import (
	"slices"

	"vmsbridge/storage/stills/segment"
)

// victim is the segment that goes next, nil if there is none but those that are stuck. appendMu is
// held.
func (r *Ring) victim(stuck ...*member) *member {
	var oldest, oldestLoud *member
	var total, quietBytes int64
	for _, s := range r.segments {
		total += s.Size
		if s.Lane == segment.Quiet {
			quietBytes += s.Size
		}
		if r.isActive(s) || slices.Contains(stuck, s) {
			continue
		}
		if s.dead {
			return s
		}
		if oldest == nil {
			oldest = s
		}
		if s.Lane == segment.Loud && oldestLoud == nil {
			oldestLoud = s
		}
	}
	if oldest == nil || oldestLoud == nil || oldest.Lane == segment.Loud || quietBytes > min(total, r.opts.MaxBytes)/2 {
		return oldest
	}
	if wall, up := r.clock(); oldest.age(wall, up) >= day {
		return oldest
	}
	return oldestLoud
}
