package segment

import (
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
)

// Record is a record's header.
type Record struct {
	Length uint32 // camera id and body, without padding
	Time   int64  // as the segment stores it, without its shift
	Type   uint8  // TypeStill, TypeGap, TypePruned, TypeSkip
	Kind   Kind
	Camera uint8  // length of the id
	CRC    uint32 // of camera id and body
}

// Size is the record's place on disk.
func (r Record) Size() uint32 { return RecordSize(int(r.Length)) }

// RecordSize is the place that a record takes on disk whose camera id and body have length bytes
// together.
func RecordSize(length int) uint32 { return uint32(RecordHead+length+Align-1) &^ (Align - 1) }

// checksum is the crc of a record of that camera and body.
func checksum(camera string, body []byte) uint32 {
	return crc32.Update(crc32.Checksum([]byte(camera), castagnoli), castagnoli, body)
}

// StillRecord is the header of a still's record.
func StillRecord(k Key, at int64, jpeg []byte) Record {
	return Record{Length: uint32(len(k.Camera) + len(jpeg)), Time: at, Type: TypeStill, Kind: k.Kind,
		Camera: uint8(len(k.Camera)), CRC: checksum(k.Camera, jpeg)}
}

// SkipRecord is the header of a record that holds nothing, of size bytes with it.
func SkipRecord(size uint32) Record { return Record{Length: size - RecordHead, Type: TypeSkip} }

// AppendRecord appends the record of that header, camera and body to p, as it stands at at in a
// segment of that salt. camera and body are those of which the header has the length and the
// checksum.
func AppendRecord(p []byte, r Record, camera string, body []byte, salt uint64, at uint32) []byte {
	from := len(p)
	p = slices.Grow(p, int(r.Size()))
	p = append(p, make([]byte, RecordHead)...)
	r.Encode(p[from:], salt, at)
	p = append(append(p, camera...), body...)
	return append(p, make([]byte, from+int(r.Size())-len(p))...)
}

// Encode writes the header into p. The checksum covers where the record stands and in which
// segment, so that no copy of a record, wherever it comes from, is taken for one.
func (r Record) Encode(p []byte, salt uint64, at uint32) {
	le.PutUint32(p, recordMagic)
	le.PutUint32(p[4:], r.Length)
	le.PutUint64(p[8:], uint64(r.Time))
	p[16], p[17], p[18], p[19] = r.Type, uint8(r.Kind), r.Camera, 0
	le.PutUint32(p[20:], 0)
	le.PutUint32(p[24:], r.CRC)
	le.PutUint32(p[28:], headerCRC(p, salt, at))
}

func headerCRC(p []byte, salt uint64, at uint32) uint32 {
	var seed [12]byte
	le.PutUint64(seed[:], salt)
	le.PutUint32(seed[8:], at)
	return crc32.Update(crc32.Checksum(seed[:], castagnoli), castagnoli, p[:28])
}

var errNoRecord = errors.New("no record begins here")

// DecodeRecord reads a header that begins at at in a segment whose records end before limit.
func DecodeRecord(p []byte, salt uint64, at, limit uint32) (Record, error) {
	if len(p) < RecordHead || !Begins(p) {
		return Record{}, errNoRecord
	}
	if headerCRC(p, salt, at) != le.Uint32(p[28:]) {
		return Record{}, errors.New("checksum of the record header differs")
	}
	r := Record{
		Length: le.Uint32(p[4:]), Time: int64(le.Uint64(p[8:])), Type: p[16], Kind: Kind(
			p[17]), Camera: p[18], CRC: le.Uint32(p[24:]),
	}
	if r.Length < uint32(r.Camera) || uint64(at)+RecordHead+uint64(r.Length) > uint64(limit) || r.Camera == 0 &&
		r.Type != TypeSkip {
		return Record{}, fmt.Errorf("record of %d bytes does not fit", r.Length)
	}
	return r, nil
}

// Holds says whether the bytes after the header are those of which it has the checksum.
func (r Record) Holds(p []byte) bool { return crc32.Checksum(p, castagnoli) == r.CRC }

// Begins says whether p begins as a record does, before anything else of it is looked at.
func Begins(p []byte) bool { return le.Uint32(p) == recordMagic }

// Payload checks the bytes after the header and splits them. The slices are of p.
func (r Record) Payload(p []byte) (camera, body []byte, err error) {
	if uint32(len(p)) < r.Length {
		return nil, nil, errors.New("record is cut off")
	}
	p = p[:r.Length]
	if !r.Holds(p) {
		return nil, nil, errors.New("checksum of the record differs")
	}
	return p[:r.Camera], p[r.Camera:], nil
}
