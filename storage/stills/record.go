package stills

import (
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
)

// record is a record's header.
type record struct {
	length uint32 // camera id and body, without padding
	time   int64
	kind   uint8 // typeStill, typeGap, typePruned
	stream Kind
	camera uint8 // length of the id
	crc    uint32
}

// size is the record's place on disk.
func (r record) size() uint32 { return recordSize(int(r.length)) }

func recordSize(length int) uint32 { return uint32(recordHead+length+align-1) &^ (align - 1) }

// checksum is the crc of a record of that camera and body.
func checksum(camera string, body []byte) uint32 {
	return crc32.Update(crc32.Checksum([]byte(camera), castagnoli), castagnoli, body)
}

// stillRecord is the header of a still's record.
func stillRecord(k seriesKey, at int64, jpeg []byte) record {
	return record{length: uint32(len(k.camera) + len(jpeg)), time: at, kind: typeStill, stream: k.kind, camera: uint8(len(k.camera)), crc: checksum(k.camera, jpeg)}
}

// skipRecord is the header of a record that holds nothing, of size bytes with it.
func skipRecord(size uint32) record { return record{length: size - recordHead, kind: typeSkip} }

// appendRecord appends the record of that header, camera and body to p, as it stands at at in a segment of that salt. camera and body are
// those of which the header has the length and the checksum.
func appendRecord(p []byte, r record, camera string, body []byte, salt uint64, at uint32) []byte {
	from := len(p)
	p = slices.Grow(p, int(r.size()))
	p = append(p, make([]byte, recordHead)...)
	r.encode(p[from:], salt, at)
	p = append(append(p, camera...), body...)
	return append(p, make([]byte, from+int(r.size())-len(p))...)
}

// encode writes the header into p. The checksum covers where the record stands and in which segment, so that no copy of
// a record, wherever it comes from, is taken for one.
func (r record) encode(p []byte, salt uint64, at uint32) {
	le.PutUint32(p, recordMagic)
	le.PutUint32(p[4:], r.length)
	le.PutUint64(p[8:], uint64(r.time))
	p[16], p[17], p[18], p[19] = r.kind, uint8(r.stream), r.camera, 0
	le.PutUint32(p[20:], 0)
	le.PutUint32(p[24:], r.crc)
	le.PutUint32(p[28:], headerCRC(p, salt, at))
}

func headerCRC(p []byte, salt uint64, at uint32) uint32 {
	var seed [12]byte
	le.PutUint64(seed[:], salt)
	le.PutUint32(seed[8:], at)
	return crc32.Update(crc32.Checksum(seed[:], castagnoli), castagnoli, p[:28])
}

var errNoRecord = errors.New("no record begins here")

// decodeRecord reads a header that begins at at in a segment whose records end before limit.
func decodeRecord(p []byte, salt uint64, at, limit uint32) (record, error) {
	if len(p) < recordHead || !begins(p) {
		return record{}, errNoRecord
	}
	if headerCRC(p, salt, at) != le.Uint32(p[28:]) {
		return record{}, errors.New("checksum of the record header differs")
	}
	r := record{
		length: le.Uint32(p[4:]), time: int64(le.Uint64(p[8:])), kind: p[16], stream: Kind(p[17]), camera: p[18], crc: le.Uint32(p[24:]),
	}
	if r.length < uint32(r.camera) || uint64(at)+recordHead+uint64(r.length) > uint64(limit) || r.camera == 0 && r.kind != typeSkip {
		return record{}, fmt.Errorf("record of %d bytes does not fit", r.length)
	}
	return r, nil
}

// holds says whether the bytes after the header are those of which it has the checksum.
func (r record) holds(p []byte) bool { return crc32.Checksum(p, castagnoli) == r.crc }

// begins says whether p begins as a record does, before anything else of it is looked at.
func begins(p []byte) bool { return le.Uint32(p) == recordMagic }

// payload checks the bytes after the header and splits them. The slices are of p.
func (r record) payload(p []byte) (camera, body []byte, err error) {
	if uint32(len(p)) < r.length {
		return nil, nil, errors.New("record is cut off")
	}
	p = p[:r.length]
	if !r.holds(p) {
		return nil, nil, errors.New("checksum of the record differs")
	}
	return p[:r.camera], p[r.camera:], nil
}
