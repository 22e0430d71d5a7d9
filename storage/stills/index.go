package stills

import (
	"cmp"
	"errors"
	"math"
	"slices"
)

// index is what a segment holds: where each still is, and its notes. In memory only that of the segment being written
// stands alone; those of full segments are in the ring's series.
type index struct {
	series map[seriesKey]*entries
	notes  []note
	bytes  int // size on disk
	stills int
}

// seriesKey names the stills that are asked for together.
type seriesKey struct {
	camera string
	kind   Kind
}

// entries are stills sorted by time, each time once.
type entries struct {
	times   []int64
	offsets []uint32
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

const (
	entryBytes  = 12
	maxReason   = 1000
	indexFixed  = 8 // the two counts
	seriesFixed = 6
	noteFixed   = 21
)

func newIndex() *index { return &index{series: map[seriesKey]*entries{}, bytes: indexFixed} }

// cost is by how many bytes the index grows at most when a still of that series is added.
func (x *index) cost(k seriesKey) int {
	if x.series[k] == nil {
		return seriesFixed + len(k.camera) + entryBytes
	}
	return entryBytes
}

func (n note) cost() int { return noteFixed + len(n.camera) + len(n.reason) }

// add takes a still. One of the same time, appended earlier, is replaced.
func (x *index) add(k seriesKey, t int64, offset uint32) {
	e := x.series[k]
	if e == nil {
		e = &entries{}
		x.series[k] = e
		x.bytes += seriesFixed + len(k.camera)
	}
	if e.insert(t, offset) {
		x.bytes += entryBytes
		x.stills++
	}
}

func (x *index) addNote(n note) {
	x.notes = append(x.notes, n)
	x.bytes += n.cost()
}

func (e *entries) insert(t int64, offset uint32) (added bool) {
	i, found := len(e.times), false
	if i > 0 && e.times[i-1] >= t {
		i, found = slices.BinarySearch(e.times, t)
	}
	if found {
		e.offsets[i] = offset
		return false
	}
	e.times = slices.Insert(e.times, i, t)
	e.offsets = slices.Insert(e.offsets, i, offset)
	return true
}

// keys are the series in the order in which they are stored.
func (x *index) keys() []seriesKey {
	list := make([]seriesKey, 0, len(x.series))
	for k := range x.series {
		list = append(list, k)
	}
	slices.SortFunc(list, func(a, b seriesKey) int {
		return cmp.Or(cmp.Compare(a.camera, b.camera), cmp.Compare(a.kind, b.kind))
	})
	return list
}

// encode is the index as it is stored.
func (x *index) encode() []byte {
	p := make([]byte, 0, x.bytes)
	p = le.AppendUint32(p, uint32(len(x.series)))
	p = le.AppendUint32(p, uint32(len(x.notes)))
	for _, k := range x.keys() {
		e := x.series[k]
		p = append(p, uint8(k.kind), uint8(len(k.camera)))
		p = le.AppendUint32(p, uint32(len(e.times)))
		p = append(p, k.camera...)
		for i, t := range e.times {
			p = le.AppendUint64(p, uint64(t))
			p = le.AppendUint32(p, e.offsets[i])
		}
	}
	for _, n := range x.notes {
		p = append(p, n.kind, uint8(n.stream), uint8(len(n.camera)))
		p = le.AppendUint16(p, uint16(len(n.reason)))
		p = le.AppendUint64(p, uint64(n.from))
		p = le.AppendUint64(p, uint64(n.to))
		p = append(p, n.camera...)
		p = append(p, n.reason...)
	}
	return p
}

var errIndex = errors.New("index is damaged")

// decodeIndex reads an index whose records end at limit. It accepts only what encode makes, but for superfluous order.
func decodeIndex(p []byte, limit uint32) (*index, error) {
	if len(p) < indexFixed {
		return nil, errIndex
	}
	series, notes := le.Uint32(p), le.Uint32(p[4:])
	p = p[indexFixed:]
	x := newIndex()
	for range series {
		if len(p) < seriesFixed {
			return nil, errIndex
		}
		k, idLen, n := Kind(p[0]), int(p[1]), uint64(le.Uint32(p[2:]))
		p = p[seriesFixed:]
		if checkKind(k) != nil || idLen == 0 || len(p) < idLen || uint64(len(p)-idLen) < n*entryBytes {
			return nil, errIndex
		}
		key := seriesKey{string(p[:idLen]), k}
		p = p[idLen:]
		e, err := decodeEntries(p[:n*entryBytes], limit)
		if err != nil || x.series[key] != nil {
			return nil, errIndex
		}
		p = p[n*entryBytes:]
		x.series[key] = e
		x.bytes += seriesFixed + idLen + len(e.times)*entryBytes
		x.stills += len(e.times)
	}
	for range notes {
		if len(p) < noteFixed {
			return nil, errIndex
		}
		n := note{kind: p[0], stream: Kind(p[1]), from: int64(le.Uint64(p[5:])), to: int64(le.Uint64(p[13:]))}
		idLen, reasonLen := int(p[2]), int(le.Uint16(p[3:]))
		p = p[noteFixed:]
		if len(p) < idLen+reasonLen || idLen == 0 {
			return nil, errIndex
		}
		n.camera, n.reason = string(p[:idLen]), string(p[idLen:idLen+reasonLen])
		p = p[idLen+reasonLen:]
		x.addNote(n)
	}
	if len(p) != 0 {
		return nil, errIndex
	}
	return x, nil
}

func decodeEntries(p []byte, limit uint32) (*entries, error) {
	n := len(p) / entryBytes
	e := &entries{times: make([]int64, n), offsets: make([]uint32, n)}
	for i := range n {
		t, at := int64(le.Uint64(p[i*entryBytes:])), le.Uint32(p[i*entryBytes+8:])
		if at < blockBytes || at%align != 0 || at >= limit || i > 0 && t <= e.times[i-1] {
			return nil, errIndex
		}
		e.times[i], e.offsets[i] = t, at
	}
	return e, nil
}
