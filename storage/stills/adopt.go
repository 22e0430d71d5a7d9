package stills

import (
	"vmsbridge/storage/stills/segment"
	"vmsbridge/storage/vfs"
)

// halfMade says whether a segment is one that a crash cut off while it was made: there is nothing
// in it, or no more than a torn part of its ends.
func (r *Ring) halfMade(l *segment.Found) bool {
	if l.Broken == nil || l.Trouble != nil {
		return false
	}
	empty, err := segment.IsEmpty(r.fs, l.Path)
	return empty && err == nil
}

// adopt takes a segment that was found into the ring. The last one of a lane goes on being written
// if it is in good shape.
func (r *Ring) adopt(l *segment.Found, last bool) {
	r.count(l)
	if l.Broken == nil && l.Lame && l.Trouble == nil {
		r.log.Warn("an end of a segment of stills was damaged or cut off; it is written anew", "segment", l.Path)
		if err := l.Mend(r.fs); err != nil {
			l.Trouble = err
			r.log.Warn("cannot write to a segment of stills", "segment", l.Path, "error", err)
		}
	}
	m := &member{File: l.File, broken: l.Broken, sealedAt: l.SealedAt}
	r.segments = append(r.segments, m)
	if l.Broken != nil {
		r.log.Warn("segment of stills cannot be read; it is skipped", "segment", l.Path, "error", l.Broken)
		return
	}
	if last && l.Trouble == nil && r.goOn(m, l) {
		return
	}
	x := l.Listing
	if x == nil {
		x = r.reseal(m, l)
	}
	wall, up := r.clock()
	if l.Lane == segment.Quiet {
		r.share.remember(x, m.age(wall, up), up)
	}
	r.wear.AtLeast(x.Written)
	r.index.Adopt(m, x)
}

// goOn makes a segment the one that its lane writes.
func (r *Ring) goOn(m *member, l *segment.Found) bool {
	f, err := r.fs.Open(l.Path, true)
	if err != nil { // read-only, perhaps; a new segment is begun
		r.log.Warn("segment of stills cannot be written any more", "segment", l.Path, "error", err)
		return false
	}
	healed := r.heal(f, l)
	_, up := r.clock()
	r.wear.More(int64(l.End))
	r.lanes[l.Lane].take(m, segment.GoOn(f, l, healed), l.Draft, up)
	if l.Lane == segment.Quiet {
		r.share.remember(l.Draft.Listing(0, 0), 0, up)
	}
	r.index.GoOn(m, l.Draft)
	return true
}

// count notes what loading a segment found.
func (r *Ring) count(l *segment.Found) {
	if l.Broken != nil {
		r.stats.badSegments.Add(1)
		return
	}
	if l.Block.Sealed() && !l.Sealed {
		r.stats.badIndexes.Add(1)
	}
	if n := l.Scan.Damaged; n > 0 {
		r.stats.badRecords.Add(uint64(n))
		r.log.Warn("damaged stills were skipped", "segment", l.Path, "stills", n, "error", l.Scan.Err)
	}
	r.stats.torn.Add(uint64(l.Scan.Torn))
}

// reseal has the flusher give a segment that was scanned an index for the next time, and returns
// it. Without one, it is scanned again.
func (r *Ring) reseal(m *member, l *segment.Found) *segment.Listing {
	wall, up := r.clock()
	total, _ := r.wear.PerDay(up)
	x := l.Draft.Listing(l.SealTime(l.Draft, wall), total)
	m.sealedAt = x.SealedAt
	if l.Trouble != nil {
		return x
	}
	f, err := r.fs.Open(l.Path, true)
	if err != nil {
		return x
	}
	r.heal(f, l)
	m.writer = segment.Reseal(f, l, x)
	r.pending = append(r.pending, m)
	return x
}

// heal marks what a crash left in a segment that was not yet sealed, and says whether there was
// something.
func (r *Ring) heal(f vfs.File, l *segment.Found) bool {
	if l.Block.Sealed() || l.Scan.Err != nil || len(l.Scan.Bad) == 0 {
		return false // a sealed one has damage of another kind; Check goes on telling of it
	}
	if err := segment.Heal(f, l.Salt, l.Scan.Bad); err != nil {
		r.log.Warn("cannot write to a segment of stills", "segment", l.Path, "error", err)
	}
	return true
}
