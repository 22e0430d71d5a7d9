package stills

import (
	"vmsbridge/storage/vfs"
)

// halfMade says whether a segment is one that a crash cut off while it was made: there is nothing in it, or no more
// than a torn part of its ends.
func (r *Ring) halfMade(l *loaded) bool {
	if l.broken == nil || l.trouble != nil {
		return false
	}
	empty, err := isEmpty(r.fs, l.path)
	return empty && err == nil
}

// adopt takes a segment that was found into the ring. The last one of a lane goes on being written if it is in good shape
// and of this version.
func (r *Ring) adopt(l *loaded, last bool) {
	m := &member{indexed: indexed{segFile: l.segFile}, broken: l.broken, sealedAt: l.sealedAt}
	r.segments = append(r.segments, m)
	r.count(l)
	if l.broken == nil && l.whole && l.lame && l.trouble == nil {
		r.log.Warn("an end of a segment of stills was damaged; it is written anew", "segment", l.path)
		if err := l.mend(r.fs); err != nil {
			l.whole = false
			r.log.Warn("cannot write to a segment of stills", "segment", l.path, "error", err)
		}
	}
	if l.broken != nil {
		r.log.Warn("segment of stills cannot be read; it is skipped", "segment", l.path, "error", l.broken)
		return
	}
	if last && l.whole && l.trouble == nil && l.block.version >= version && r.goOn(m, l) {
		return
	}
	x := l.listing
	if x == nil {
		x = r.reseal(m, l)
	}
	wall, up := r.clock()
	if l.lane == quiet {
		r.share.remember(x, m.age(wall, up), up)
	}
	r.wear.atLeast(x.written)
	r.index.adopt(&m.indexed, x)
}

// goOn makes a segment the one that its lane writes.
func (r *Ring) goOn(m *member, l *loaded) bool {
	f, err := r.fs.Open(l.path, true)
	if err != nil { // read-only, perhaps; a new segment is begun
		r.log.Warn("segment of stills cannot be written any more", "segment", l.path, "error", err)
		return false
	}
	healed := r.heal(f, l)
	_, up := r.clock()
	r.wear.more(int64(l.end))
	r.lanes[l.lane].take(m, goOnWriter(f, l, healed), l.draft, up)
	if l.lane == quiet {
		r.share.remember(l.draft.listing(0, 0), 0, up)
	}
	r.index.goOn(&m.indexed, l.draft)
	return true
}

// count notes what loading a segment found.
func (r *Ring) count(l *loaded) {
	if l.broken != nil {
		r.stats.badSegments.Add(1)
		return
	}
	if l.block.sealed() && !l.sealed {
		r.stats.badIndexes.Add(1)
	}
	if n := l.scan.damaged; n > 0 {
		r.stats.badRecords.Add(uint64(n))
		r.log.Warn("damaged stills were skipped", "segment", l.path, "stills", n, "error", l.scan.err)
	}
	r.stats.torn.Add(uint64(l.scan.torn))
}

// reseal has the flusher give a segment that was scanned an index for the next time, and returns it. Without one, it is
// scanned again.
func (r *Ring) reseal(m *member, l *loaded) *listing {
	wall, up := r.clock()
	total, _ := r.wear.perDay(up)
	x := l.draft.listing(l.sealTime(l.draft, wall), total)
	m.sealedAt = x.sealedAt
	if !l.whole || l.trouble != nil {
		return x
	}
	f, err := r.fs.Open(l.path, true)
	if err != nil {
		return x
	}
	r.heal(f, l)
	m.writer = resealWriter(f, l, x)
	r.pending = append(r.pending, m)
	return x
}

// heal marks what a crash left in a segment that was not yet sealed, and says whether there was something.
func (r *Ring) heal(f vfs.File, l *loaded) bool {
	if l.block.sealed() || l.scan.err != nil || len(l.scan.bad) == 0 {
		return false // a sealed one has damage of another kind; Check goes on telling of it
	}
	if err := heal(f, l.salt, l.scan.bad); err != nil {
		r.log.Warn("cannot write to a segment of stills", "segment", l.path, "error", err)
	}
	return true
}
