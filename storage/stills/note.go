package stills

import "math"

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

func (n note) cost() int { return noteFixed + len(n.camera) + len(n.reason) }

// size is that of the note's record.
func (n note) size() uint32 { return recordSize(len(n.camera) + 8 + len(n.reason)) }

// record is the note as a segment holds it: the header, and what comes after the camera's id.
func (n note) record() (record, []byte) {
	body := append(le.AppendUint64(nil, uint64(n.to)), n.reason...)
	return record{length: uint32(len(n.camera) + len(body)), time: n.from, kind: n.kind, stream: n.stream, camera: uint8(len(n.camera)), crc: checksum(n.camera, body)}, body
}

// readNote is the note that a record holds, if it is one.
func readNote(r record, camera string, body []byte) (note, bool) {
	if r.kind != typeGap && r.kind != typePruned || len(body) < 8 {
		return note{}, false
	}
	return note{kind: r.kind, stream: r.stream, camera: camera, from: r.time, to: int64(le.Uint64(body)), reason: string(body[8:])}, true
}
