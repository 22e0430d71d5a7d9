package stills

import (
	"errors"
	"hash/crc32"
	"slices"
)

// listing is the index of a full segment, as it is stored.
type listing struct {
	version  uint32
	runs     []run // sorted by key
	list     []entry
	notes    []note
	sealedAt int64 // when it was written, by the clock of that time; 0: not known
	written  int64 // bytes that the ring had written to the device by then, ever since it was made
}

// run is a series' stills: list[lo:hi], sorted by time.
type run struct {
	key    seriesKey
	lo, hi uint32
}

const (
	seriesFixed = 6
	noteFixed   = 21
)

func entryBytes(version uint32) int {
	if version == 1 {
		return 12
	}
	return 16
}

// indexFixed is the size of an index' head.
func indexFixed(version uint32) int {
	if version == 1 {
		return 8
	}
	return 24
}

// size is that of the stored form.
func (l *listing) size() int {
	n := indexFixed(l.version) + len(l.list)*entryBytes(l.version)
	for _, r := range l.runs {
		n += seriesFixed + len(r.key.camera)
	}
	for _, v := range l.notes {
		n += v.cost()
	}
	return n
}

// encode is the index as it is stored.
func (l *listing) encode() []byte {
	p := make([]byte, 0, l.size())
	p = le.AppendUint32(p, uint32(len(l.runs)))
	p = le.AppendUint32(p, uint32(len(l.notes)))
	if l.version > 1 {
		p = le.AppendUint64(p, uint64(l.sealedAt))
		p = le.AppendUint64(p, uint64(l.written))
	}
	for _, r := range l.runs {
		p = append(p, uint8(r.key.kind), uint8(len(r.key.camera)))
		p = le.AppendUint32(p, r.hi-r.lo)
		p = append(p, r.key.camera...)
		for _, n := range l.list[r.lo:r.hi] {
			p = le.AppendUint64(p, uint64(n.time))
			p = le.AppendUint32(p, n.place)
			if l.version > 1 {
				p = le.AppendUint32(p, n.size)
			}
		}
	}
	for _, n := range l.notes {
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

// decode reads the index p of the segment whose last block is b, into the room that an earlier listing had. It accepts only what encode
// makes, and keeps nothing of p. name gives a camera id's string, so that thousands of indexes can share it.
func (l *listing) decode(p []byte, b block, name func([]byte) string) error {
	if crc32.Checksum(p, castagnoli) != b.indexCRC {
		return errIndex
	}
	return l.parse(p, b.version, b.recordEnd, name)
}

// parse is decode for an index whose checksum is right, of a segment of that version whose records end at limit.
func (l *listing) parse(p []byte, version, limit uint32, name func([]byte) string) error {
	*l = listing{version: version, runs: l.runs[:0], list: l.list[:0]}
	if len(p) < indexFixed(version) {
		return errIndex
	}
	runs, notes := uint64(le.Uint32(p)), uint64(le.Uint32(p[4:]))
	if version > 1 {
		l.sealedAt, l.written = int64(le.Uint64(p[8:])), int64(le.Uint64(p[16:]))
	}
	p = p[indexFixed(version):]
	if runs*seriesFixed+notes*noteFixed > uint64(len(p)) {
		return errIndex
	}
	l.runs = slices.Grow(l.runs, int(runs))
	l.list = slices.Grow(l.list, countEntries(p, runs, version))
	for range runs {
		if len(p) < seriesFixed {
			return errIndex
		}
		k, idLen, n := Kind(p[0]), int(p[1]), uint64(le.Uint32(p[2:]))
		p = p[seriesFixed:]
		if checkKind(k) != nil || idLen == 0 || len(p) < idLen || uint64(len(p)-idLen) < n*uint64(entryBytes(version)) {
			return errIndex
		}
		r := run{seriesKey{name(p[:idLen]), k}, uint32(len(l.list)), uint32(len(l.list)) + uint32(n)}
		if c := len(l.runs); c > 0 && compareKeys(l.runs[c-1].key, r.key) >= 0 {
			return errIndex
		}
		p = p[idLen:]
		size := int(n) * entryBytes(version)
		if !l.takeEntries(p[:size], limit) {
			return errIndex
		}
		p = p[size:]
		l.runs = append(l.runs, r)
	}
	for range notes {
		if len(p) < noteFixed {
			return errIndex
		}
		n := note{kind: p[0], stream: Kind(p[1]), from: int64(le.Uint64(p[5:])), to: int64(le.Uint64(p[13:]))}
		idLen, reasonLen := int(p[2]), int(le.Uint16(p[3:]))
		p = p[noteFixed:]
		if len(p) < idLen+reasonLen || idLen == 0 {
			return errIndex
		}
		n.camera, n.reason = name(p[:idLen]), string(p[idLen:idLen+reasonLen])
		p = p[idLen+reasonLen:]
		l.notes = append(l.notes, n)
	}
	if len(p) != 0 {
		return errIndex
	}
	return nil
}

// countEntries is how many entries the runs at the beginning of p have, as far as they can be followed.
func countEntries(p []byte, runs uint64, version uint32) (n int) {
	for ; runs > 0 && len(p) >= seriesFixed; runs-- {
		here := uint64(le.Uint32(p[2:]))
		skip := seriesFixed + uint64(p[1]) + here*uint64(entryBytes(version))
		if skip > uint64(len(p)) {
			break
		}
		n += int(here)
		p = p[skip:]
	}
	return n
}

// takeEntries reads a series' entries and says whether they can be true.
func (l *listing) takeEntries(p []byte, limit uint32) bool {
	step := entryBytes(l.version)
	first := len(l.list)
	for ; len(p) > 0; p = p[step:] {
		n := entry{time: int64(le.Uint64(p)), place: le.Uint32(p[8:])}
		if l.version > 1 {
			n.size = le.Uint32(p[12:])
		}
		if n.place < blockBytes || n.place%align != 0 || n.place >= limit || n.size > limit-n.place ||
			len(l.list) > first && n.time <= l.list[len(l.list)-1].time {
			return false
		}
		l.list = append(l.list, n)
	}
	return true
}
