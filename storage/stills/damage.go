package stills

import (
	"fmt"
	"time"
)

// Damage is what the ring found broken, by Open or since. Whatever else there is can be found as
// before.
type Damage struct {
	Time     time.Time // when it was told, by the ring's clock
	Stills   int       // that are lost
	Segments int       // of which nothing could be read, or which had lost both ends
	Indexes  int       // read anew from the records, at no loss; a power cut does that too
}

func (d Damage) String() string {
	return fmt.Sprintf("%d stills and %d segments of stills are damaged", d.Stills, d.Segments)
}

// tellEvery bounds how often damage is told of: a disk that dies finds some with every question.
const tellEvery = time.Hour

// tell tells of damage that came since the last time. An index alone is none.
func (r *Ring) tell() {
	if r.opts.OnDamage == nil {
		return
	}
	if d, some := r.news(); some {
		r.opts.OnDamage(d)
	}
}

// news is the damage that came since the last time, if it is time to tell.
func (r *Ring) news() (d Damage, some bool) {
	r.told.mu.Lock()
	defer r.told.mu.Unlock()
	wall, up := r.clock()
	t := &r.told
	stills, segments, indexes := r.stats.badRecords.Load(), r.stats.badSegments.Load(), r.stats.badIndexes.Load()
	if stills == t.stills && segments == t.segments || t.until > 0 && up < t.until {
		return d, false
	}
	d = Damage{Time: wall, Stills: int(stills - t.stills), Segments: int(segments - t.segments),
		Indexes: int(indexes - t.indexes)}
	t.stills, t.segments, t.indexes, t.until = stills, segments, indexes, up+tellEvery
	return d, true
}
