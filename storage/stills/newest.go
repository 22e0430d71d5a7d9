package stills

import "time"

// Newest is the time of a camera's newest still of a kind; ok is false if there is none. It reads nothing from the disk.
func (r *Ring) Newest(camera string, k Kind) (t time.Time, ok bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	s := r.series[seriesKey{camera, k}]
	if s == nil {
		return time.Time{}, false
	}
	_, newest, ok := s.bounds()
	if !ok {
		return time.Time{}, false
	}
	return nanosTime(newest), true
}
