package segment

import (
	"errors"
	"hash/crc32"
	"slices"
)

// Listing is the index of a full segment, as it is stored.
type Listing struct {
	Runs     []Run // sorted by key
	List     []Entry
	Notes    []Note
	SealedAt int64 // when it was written, by the clock of that time; 0: not known
	Written  int64 // bytes that the ring had written to the device by then, ever since it was made
}

// Run is a series' stills: List[Lo:Hi], sorted by time.
type Run struct {
	Key    Key
	Lo, Hi uint32
}

const (
	indexFixed  = 24 // size of an index' head
	seriesFixed = 6
	entryBytes  = 16
	noteFixed   = 21
)

// size is that of the stored form.
func (l *Listing) size() int {
	n := indexFixed + len(l.List)*entryBytes
	for _, r := range l.Runs {
		n += seriesFixed + len(r.Key.Camera)
	}
	for _, v := range l.Notes {
		n += v.Cost()
	}
	return n
}

// Encode is the index as a segment with a shift stores it.
func (l *Listing) Encode(shift int64) []byte {
	p := make([]byte, 0, l.size())
	p = le.AppendUint32(p, uint32(len(l.Runs)))
	p = le.AppendUint32(p, uint32(len(l.Notes)))
	p = le.AppendUint64(p, uint64(SealShifted(l.SealedAt, -shift)))
	p = le.AppendUint64(p, uint64(l.Written))
	for _, r := range l.Runs {
		p = append(p, uint8(r.Key.Kind), uint8(len(r.Key.Camera)))
		p = le.AppendUint32(p, r.Hi-r.Lo)
		p = append(p, r.Key.Camera...)
		for _, n := range l.List[r.Lo:r.Hi] {
			p = le.AppendUint64(p, uint64(n.Time-shift))
			p = le.AppendUint32(p, n.Place)
			p = le.AppendUint32(p, n.Size)
		}
	}
	for _, n := range l.Notes {
		n = n.Moved(-shift)
		p = append(p, n.Type, uint8(n.Kind), uint8(len(n.Camera)))
		p = le.AppendUint16(p, uint16(len(n.Reason)))
		p = le.AppendUint64(p, uint64(n.From))
		p = le.AppendUint64(p, uint64(n.To))
		p = append(p, n.Camera...)
		p = append(p, n.Reason...)
	}
	return p
}

var errIndex = errors.New("index is damaged")

// Decode reads the index p of the segment whose last block is b, without its shift. It accepts only
// what Encode makes, and keeps nothing of p. name gives a camera id's string, so that thousands of
// indexes can share it.
func (l *Listing) Decode(p []byte, b Block, name func([]byte) string) error {
	if crc32.Checksum(p, castagnoli) != b.indexCRC {
		return errIndex
	}
	return l.parse(p, b.RecordEnd, name)
}

// parse is Decode for an index whose checksum is right, of a segment whose records end at limit.
func (l *Listing) parse(p []byte, limit uint32, name func([]byte) string) error {
	*l = Listing{}
	if len(p) < indexFixed {
		return errIndex
	}
	runs, notes := uint64(le.Uint32(p)), uint64(le.Uint32(p[4:]))
	l.SealedAt, l.Written = int64(le.Uint64(p[8:])), int64(le.Uint64(p[16:]))
	p = p[indexFixed:]
	if runs*seriesFixed+notes*noteFixed > uint64(len(p)) {
		return errIndex
	}
	l.Runs = slices.Grow(l.Runs, int(runs))
	l.List = slices.Grow(l.List, countEntries(p, runs))
	for range runs {
		if len(p) < seriesFixed {
			return errIndex
		}
		k, idLen, n := Kind(p[0]), int(p[1]), uint64(le.Uint32(p[2:]))
		p = p[seriesFixed:]
		if CheckKind(k) != nil || idLen == 0 || len(p) < idLen || uint64(len(p)-idLen) < n*uint64(entryBytes) {
			return errIndex
		}
		r := Run{Key{name(p[:idLen]), k}, uint32(len(l.List)), uint32(len(l.List)) + uint32(n)}
		if c := len(l.Runs); c > 0 && CompareKeys(l.Runs[c-1].Key, r.Key) >= 0 {
			return errIndex
		}
		p = p[idLen:]
		size := int(n) * entryBytes
		if !l.takeEntries(p[:size], limit) {
			return errIndex
		}
		p = p[size:]
		l.Runs = append(l.Runs, r)
	}
	for range notes {
		if len(p) < noteFixed {
			return errIndex
		}
		n := Note{Type: p[0], Kind: Kind(p[1]), From: int64(le.Uint64(p[5:])), To: int64(le.Uint64(p[13:]))}
		idLen, reasonLen := int(p[2]), int(le.Uint16(p[3:]))
		p = p[noteFixed:]
		if len(p) < idLen+reasonLen || idLen == 0 {
			return errIndex
		}
		n.Camera, n.Reason = name(p[:idLen]), string(p[idLen:idLen+reasonLen])
		p = p[idLen+reasonLen:]
		l.Notes = append(l.Notes, n)
	}
	if len(p) != 0 {
		return errIndex
	}
	return nil
}

// countEntries is how many entries the runs at the beginning of p have, as far as they can be
// followed.
func countEntries(p []byte, runs uint64) (n int) {
	for ; runs > 0 && len(p) >= seriesFixed; runs-- {
		here := uint64(le.Uint32(p[2:]))
		skip := seriesFixed + uint64(p[1]) + here*uint64(entryBytes)
		if skip > uint64(len(p)) {
			break
		}
		n += int(here)
		p = p[skip:]
	}
	return n
}

// takeEntries reads a series' entries and says whether they can be true.
func (l *Listing) takeEntries(p []byte, limit uint32) bool {
	first := len(l.List)
	for ; len(p) > 0; p = p[entryBytes:] {
		n := Entry{Time: int64(le.Uint64(p)), Place: le.Uint32(p[8:]), Size: le.Uint32(p[12:])}
		if n.Place < BlockBytes || n.Place%Align != 0 || n.Place >= limit || n.Size > limit-n.Place ||
			len(l.List) > first && n.Time <= l.List[len(l.List)-1].Time {
			return false
		}
		l.List = append(l.List, n)
	}
	return true
}
