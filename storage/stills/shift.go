package stills

import "slices"

// unshifted is a record as a segment with a shift stores it.
func (r record) unshifted(camera string, body []byte, shift int64) (record, []byte) {
	if shift == 0 {
		return r, body
	}
	r.time -= shift
	if r.kind == typeGap && len(body) >= 8 {
		body = slices.Clone(body)
		le.PutUint64(body, uint64(shifted(int64(le.Uint64(body)), -shift)))
		r.crc = checksum(camera, body)
	}
	return r, body
}

// raw is a listing as a segment with a shift stores it.
func (l *listing) raw(shift int64) *listing {
	if shift == 0 {
		return l
	}
	c := *l
	c.list = slices.Clone(l.list)
	c.move(-shift)
	return &c
}

// move adds shift to all times.
func (l *listing) move(shift int64) {
	if shift == 0 {
		return
	}
	for i := range l.list {
		l.list[i].time += shift
	}
	l.notes = moved(l.notes, shift)
	l.sealedAt = sealShifted(l.sealedAt, shift)
}

// move adds shift to all times.
func (x *draft) move(shift int64) {
	if shift == 0 {
		return
	}
	for _, e := range x.series {
		for i := range e.list {
			e.list[i].time += shift
		}
	}
	x.notes = moved(x.notes, shift)
}

func moved(notes []note, shift int64) []note {
	notes = slices.Clone(notes)
	for i := range notes {
		notes[i] = notes[i].moved(shift)
	}
	return notes
}

// moved is the note with shift added to its times.
func (n note) moved(shift int64) note {
	n.from += shift
	if n.kind == typeGap {
		n.to = shifted(n.to, shift)
	}
	return n
}

// shifted is the end of a gap; one that lasts has none.
func shifted(to, shift int64) int64 {
	if to == noEnd {
		return to
	}
	return to + shift
}

// sealShifted is a time of sealing; 0 is not known.
func sealShifted(at, shift int64) int64 {
	if at == 0 {
		return 0
	}
	return at + shift
}
