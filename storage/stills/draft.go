package stills

import (
	"slices"
)

// draft is the index of a segment that is being written: where each still is, and its notes. Those of full segments are
// listings.
type draft struct {
	version uint32 // of the disk form that its segment has
	series  map[seriesKey]*entries
	notes   []note
	bytes   int // size on disk
	stills  int
}

func newDraft(version uint32) *draft {
	return &draft{version: version, series: map[seriesKey]*entries{}, bytes: indexFixed(version)}
}

// cost is by how many bytes the index grows at most when a still of that series is added.
func (x *draft) cost(k seriesKey) int {
	if x.series[k] == nil {
		return seriesFixed + len(k.camera) + entryBytes(x.version)
	}
	return entryBytes(x.version)
}

// add takes a still. One of the same time, appended earlier, is replaced.
func (x *draft) add(k seriesKey, n entry) {
	e := x.series[k]
	if e == nil {
		e = &entries{}
		x.series[k] = e
		x.bytes += seriesFixed + len(k.camera)
	}
	if e.insert(n) {
		x.bytes += entryBytes(x.version)
		x.stills++
	}
}

func (x *draft) addNote(n note) {
	x.notes = append(x.notes, n)
	x.bytes += n.cost()
}

// addRecord takes a record that was read.
func (x *draft) addRecord(r record, at uint32, camera, body []byte) {
	switch r.kind {
	case typeStill:
		if checkKind(r.stream) == nil {
			x.add(seriesKey{string(camera), r.stream}, entry{r.time, at, uint32(len(body))})
		}
	case typeGap, typePruned:
		if n, ok := readNote(r, string(camera), body); ok && len(n.reason) <= maxReason {
			x.addNote(n)
		}
	}
}

// has says whether there is a still of exactly that time.
func (x *draft) has(k seriesKey, at int64) bool {
	e := x.series[k]
	if e == nil {
		return false
	}
	_, found := search(e.list, at)
	return found
}

// newest is the latest time of a still, and 1970 if there is none as late.
func (x *draft) newest() (newest int64) {
	for _, e := range x.series {
		if n := len(e.list); n > 0 {
			newest = max(newest, e.list[n-1].time)
		}
	}
	return newest
}

// keys are the series in the order in which they are stored.
func (x *draft) keys() []seriesKey {
	list := make([]seriesKey, 0, len(x.series))
	for k := range x.series {
		list = append(list, k)
	}
	slices.SortFunc(list, compareKeys)
	return list
}

// listing is the index as it is from now on.
func (x *draft) listing(sealedAt, written int64) *listing {
	l := &listing{version: x.version, list: make([]entry, 0, x.stills), notes: x.notes, sealedAt: sealedAt, written: written}
	for _, k := range x.keys() {
		lo := uint32(len(l.list))
		l.list = append(l.list, x.series[k].list...)
		l.runs = append(l.runs, run{k, lo, uint32(len(l.list))})
	}
	return l
}
