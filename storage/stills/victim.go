package stills

import "slices"

// victim is the segment that goes next, nil if there is none but those that are stuck. appendMu is held.
func (r *Ring) victim(stuck ...*member) *member {
	var oldest, oldestLoud *member
	var total, quietBytes int64
	for _, s := range r.segments {
		total += s.size
		if s.lane == quiet {
			quietBytes += s.size
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
		if s.lane == loud && oldestLoud == nil {
			oldestLoud = s
		}
	}
	if oldest == nil || oldestLoud == nil || oldest.lane == loud || quietBytes > min(total, r.opts.MaxBytes)/2 {
		return oldest
	}
	if wall, up := r.clock(); oldest.age(wall, up) >= day {
		return oldest
	}
	return oldestLoud
}
