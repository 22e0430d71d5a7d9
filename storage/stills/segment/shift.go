package segment

import "slices"

// Unshifted is a record as a segment with a shift stores it.
func (r Record) Unshifted(camera string, body []byte, shift int64) (Record, []byte) {
	if shift == 0 {
		return r, body
	}
	r.Time -= shift
	if r.Type == TypeGap && len(body) >= 8 {
		body = slices.Clone(body)
		le.PutUint64(body, uint64(Shifted(int64(le.Uint64(body)), -shift)))
		r.CRC = checksum(camera, body)
	}
	return r, body
}

// Move adds shift to all times.
func (e *Entries) Move(shift int64) {
	for i := range e.List {
		e.List[i].Time += shift
	}
}

// Move adds shift to all times.
func (l *Listing) Move(shift int64) {
	if shift == 0 {
		return
	}
	(&Entries{l.List}).Move(shift)
	l.Notes = moved(l.Notes, shift)
	l.SealedAt = SealShifted(l.SealedAt, shift)
}

// Move adds shift to all times.
func (x *Draft) Move(shift int64) {
	if shift == 0 {
		return
	}
	for _, e := range x.Series {
		e.Move(shift)
	}
	x.Notes = moved(x.Notes, shift)
}

func moved(notes []Note, shift int64) []Note {
	notes = slices.Clone(notes)
	for i := range notes {
		notes[i] = notes[i].Moved(shift)
	}
	return notes
}

// Moved is the note with shift added to its times.
func (n Note) Moved(shift int64) Note {
	n.From += shift
	if n.Type == TypeGap {
		n.To = Shifted(n.To, shift)
	}
	return n
}

// Shifted is the end of a gap; one that lasts has none.
func Shifted(to, shift int64) int64 {
	if to == NoEnd {
		return to
	}
	return to + shift
}

// SealShifted is a time of sealing; 0 is not known.
func SealShifted(at, shift int64) int64 {
	if at == 0 {
		return 0
	}
	return at + shift
}
