package stills

import "time"

// expire drops the segments all of whose stills are older than MaxAge, and closes a segment that is
// being written for so long that it would keep old ones. appendMu is held.
func (r *Ring) expire() {
	wall, up := r.clock()
	isSteady := r.steady.look(wall, up)
	if r.opts.MaxAge <= 0 || !isSteady {
		return
	}
	for _, l := range r.lanes {
		if l.file != nil && up-l.began > r.opts.MaxAge/4 && !l.file.Empty() {
			r.retire(l)
		}
	}
	// A segment is at least as old as those that were begun after it: a clock that was ahead when
	// it was filled does not keep it.
	var age time.Duration
	var old []*member
	for i := len(r.segments) - 1; i >= 0; i-- {
		s := r.segments[i]
		if r.isActive(s) {
			continue
		}
		if age = max(age, s.age(wall, up)); age > r.opts.MaxAge {
			old = append(old, s)
		}
	}
	for i := len(old) - 1; i >= 0 && len(old)-i <= expireAtOnce; i-- {
		if err := r.drop(old[i]); err == nil {
			r.stats.expired.Add(1)
		} else if r.hopeless(err) {
			return
		}
	}
}

// expireAtOnce bounds how long a tick holds up an Append.
const expireAtOnce = 16
