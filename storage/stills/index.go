package stills

import (
	"cmp"
	"math"
	"slices"
)

// index is what a segment that is being written holds: where each still is, and its notes. Those of full segments are
// listings.
type index struct {
	version uint32 // of the disk form that its segment has
	series  map[seriesKey]*entries
	notes   []note
	bytes   int // size on disk
	stills  int
}

// seriesKey names the stills that are asked for together.
type seriesKey struct {
	camera string
	kind   Kind
}

// note is a gap, or that a camera's stills are all pruned.
type note struct {
	kind   uint8 // typeGap, typePruned
	stream Kind  // typePruned
	camera string
	from   int64 // typePruned: the newest pruned
	to     int64 // typeGap; noEnd while it lasts
	reason string
}

// noEnd is the end of a gap that lasts.
const noEnd = math.MinInt64

const maxReason = 1000

func newIndex(version uint32) *index {
	return &index{version: version, series: map[seriesKey]*entries{}, bytes: indexFixed(version)}
}

// cost is by how many bytes the index grows at most when a still of that series is added.
func (x *index) cost(k seriesKey) int {
	if x.series[k] == nil {
		return seriesFixed + len(k.camera) + entryBytes(x.version)
	}
	return entryBytes(x.version)
}

func (n note) cost() int { return noteFixed + len(n.camera) + len(n.reason) }

// add takes a still. One of the same time, appended earlier, is replaced.
func (x *index) add(k seriesKey, n entry) {
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

func (x *index) addNote(n note) {
	x.notes = append(x.notes, n)
	x.bytes += n.cost()
}

// addRecord takes a record that was read.
func (x *index) addRecord(r record, at uint32, camera, body []byte) {
	switch r.kind {
	case typeStill:
		if checkKind(r.stream) == nil {
			x.add(seriesKey{string(camera), r.stream}, entry{r.time, at, uint32(len(body))})
		}
	case typeGap, typePruned:
		n := note{kind: r.kind, stream: r.stream, camera: string(camera), from: r.time}
		if len(body) >= 8 && len(body) <= 8+maxReason {
			n.to, n.reason = int64(le.Uint64(body)), string(body[8:])
			x.addNote(n)
		}
	}
}

// keys are the series in the order in which they are stored.
func (x *index) keys() []seriesKey {
	list := make([]seriesKey, 0, len(x.series))
	for k := range x.series {
		list = append(list, k)
	}
	slices.SortFunc(list, compareKeys)
	return list
}

func compareKeys(a, b seriesKey) int {
	return cmp.Or(cmp.Compare(a.camera, b.camera), cmp.Compare(a.kind, b.kind))
}

// listing is the index as it is from now on.
func (x *index) listing(sealedAt, written int64) *listing {
	l := &listing{version: x.version, list: make([]entry, 0, x.stills), notes: x.notes, sealedAt: sealedAt, written: written}
	for _, k := range x.keys() {
		lo := uint32(len(l.list))
		l.list = append(l.list, x.series[k].list...)
		l.runs = append(l.runs, run{k, lo, uint32(len(l.list))})
	}
	return l
}
