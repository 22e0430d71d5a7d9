package segment

import "slices"

// Draft is the index of a segment that is being written: where each still is, and its notes. Those
// of full segments are listings.
type Draft struct {
	Series map[Key]*Entries // not to be changed but by Add
	Notes  []Note
	Bytes  int // size on disk
	Stills int // each time of a series counts once
}

// NewDraft is the empty index of a segment.
func NewDraft() *Draft {
	return &Draft{Series: map[Key]*Entries{}, Bytes: indexFixed}
}

// Cost is by how many bytes the index grows at most when a still of that series is added.
func (x *Draft) Cost(k Key) int {
	if x.Series[k] == nil {
		return seriesFixed + len(k.Camera) + entryBytes
	}
	return entryBytes
}

// Add takes a still. One of the same time, appended earlier, is replaced.
func (x *Draft) Add(k Key, n Entry) {
	e := x.Series[k]
	if e == nil {
		e = &Entries{}
		x.Series[k] = e
		x.Bytes += seriesFixed + len(k.Camera)
	}
	if e.insert(n) {
		x.Bytes += entryBytes
		x.Stills++
	}
}

// AddNote takes a note.
func (x *Draft) AddNote(n Note) {
	x.Notes = append(x.Notes, n)
	x.Bytes += n.Cost()
}

// AddRecord takes a record that was read at at: a still or a note. What is neither is left out. It
// keeps nothing of camera and body.
func (x *Draft) AddRecord(r Record, at uint32, camera, body []byte) {
	switch r.Type {
	case TypeStill:
		if CheckKind(r.Kind) == nil {
			x.Add(Key{string(camera), r.Kind}, Entry{r.Time, at, uint32(len(body))})
		}
	case TypeGap, TypePruned:
		if n, ok := ReadNote(r, string(camera), body); ok && len(n.Reason) <= MaxReason {
			x.AddNote(n)
		}
	}
}

// Has says whether there is a still of exactly that time.
func (x *Draft) Has(k Key, at int64) bool {
	e := x.Series[k]
	if e == nil {
		return false
	}
	_, found := Search(e.List, at)
	return found
}

// Newest is the latest time of a still, and 1970 if there is none as late.
func (x *Draft) Newest() (newest int64) {
	for _, e := range x.Series {
		if n := len(e.List); n > 0 {
			newest = max(newest, e.List[n-1].Time)
		}
	}
	return newest
}

// keys are the series in the order in which they are stored.
func (x *Draft) keys() []Key {
	list := make([]Key, 0, len(x.Series))
	for k := range x.Series {
		list = append(list, k)
	}
	slices.SortFunc(list, CompareKeys)
	return list
}

// Listing is the index as it is from now on.
func (x *Draft) Listing(sealedAt, written int64) *Listing {
	l := &Listing{List: make([]Entry, 0, x.Stills), Notes: x.Notes, SealedAt: sealedAt,
		Written: written}
	for _, k := range x.keys() {
		lo := uint32(len(l.List))
		l.List = append(l.List, x.Series[k].List...)
		l.Runs = append(l.Runs, Run{k, lo, uint32(len(l.List))})
	}
	return l
}
