package segment

import "math"

// Note is what a segment holds beside stills: a gap, or that a camera's stills are all pruned.
type Note struct {
	Type   uint8 // TypeGap, TypePruned
	Kind   Kind  // TypePruned
	Camera string
	From   int64 // TypePruned: the newest pruned
	To     int64 // TypeGap; NoEnd while it lasts
	Reason string
}

// NoEnd is the end of a gap that lasts.
const NoEnd = math.MinInt64

// MaxReason is how many bytes the reason of a gap may have.
const MaxReason = 1000

// Cost is what the note takes in an index, in bytes.
func (n Note) Cost() int { return noteFixed + len(n.Camera) + len(n.Reason) }

// Size is that of the note's record.
func (n Note) Size() uint32 { return RecordSize(len(n.Camera) + 8 + len(n.Reason)) }

// Record is the note as a segment holds it: the header, and what comes after the camera's id.
func (n Note) Record() (Record, []byte) {
	body := append(le.AppendUint64(nil, uint64(n.To)), n.Reason...)
	return Record{Length: uint32(len(n.Camera) + len(body)), Time: n.From, Type: n.Type, Kind: n.Kind,
		Camera: uint8(len(n.Camera)), CRC: checksum(n.Camera, body)}, body
}

// ReadNote is the note that a record holds, if it is one.
func ReadNote(r Record, camera string, body []byte) (Note, bool) {
	if r.Type != TypeGap && r.Type != TypePruned || len(body) < 8 {
		return Note{}, false
	}
	return Note{Type: r.Type, Kind: r.Kind, Camera: camera, From: r.Time, To: int64(le.Uint64(body)),
		Reason: string(body[8:])}, true
}
