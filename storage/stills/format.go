package stills

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
)

// The disk form; format.md has the byte tables. All numbers are little-endian.
const (
	headMagic   = "VMSTILL1" // first block of a segment
	footMagic   = "VMSTILLE" // last block
	blockBytes  = 64
	recordMagic = 0x53a7e1d9
	recordHead  = 32
	align       = 8

	typeStill  = 1
	typeGap    = 2 // a time without pictures
	typePruned = 3 // the newest still of a camera that has none left
	typeSkip   = 4 // bytes that hold nothing: what a crash left of a record

	// version is the one that new segments have. Version 1 knew no lanes and no sizes in its index; its segments are read.
	version = 2
	// versionEra is that of segments begun while the clock was untrue (era.go), so that a program that does not know of eras
	// refuses the ring instead of showing wrong times. All else of it is as in version 2.
	versionEra = 3
)

var (
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
	le         = binary.LittleEndian
)

// block is the first or the last 64 bytes of a segment. The last one is written at creation too, so that a segment whose
// first page is lost still says who it is, and again when the segment is sealed.
type block struct {
	version   uint32
	lane      uint8  // 0 in version 1
	capacity  uint32 // size of the file
	number    uint64 // the segment's, also in its name
	salt      uint64 // enters the checksum of every record header
	created   int64  // nanoseconds since 1970; not in versionEra
	era       uint32 // versionEra: whose times are not true yet, 24 bits; 0: they are, once shift is added
	shift     int64  // versionEra: nanoseconds to add to every time in the segment
	indexAt   uint32 // last block only: 0 until sealed
	indexLen  uint32
	indexCRC  uint32
	recordEnd uint32 // where the records end
}

func (b block) sealed() bool { return b.indexAt != 0 }

func (b block) encode(magic string) []byte {
	p := make([]byte, blockBytes)
	copy(p, magic)
	le.PutUint32(p[8:], b.version)
	le.PutUint32(p[12:], b.capacity)
	le.PutUint64(p[16:], b.number)
	le.PutUint64(p[24:], b.salt)
	le.PutUint64(p[32:], uint64(b.created))
	le.PutUint32(p[40:], b.indexAt)
	le.PutUint32(p[44:], b.indexLen)
	le.PutUint32(p[48:], b.indexCRC)
	le.PutUint32(p[52:], b.recordEnd)
	p[56] = b.lane
	if b.version == versionEra {
		le.PutUint64(p[32:], uint64(b.shift))
		p[57], p[58], p[59] = byte(b.era), byte(b.era>>8), byte(b.era>>16)
	}
	le.PutUint32(p[60:], crc32.Checksum(p[:60], castagnoli))
	return p
}

// VersionError says that a ring was written by a newer program. Nothing was changed.
type VersionError struct {
	Path    string
	Version uint32
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("%s has version %d of the format, and this program knows 1 to %d: install the newer program again, or move the folder away", e.Path, e.Version, versionEra)
}

func decodeBlock(p []byte, magic string) (block, error) {
	if len(p) < blockBytes {
		return block{}, errors.New("block is cut off")
	}
	if string(p[:8]) != magic {
		return block{}, errors.New("block has a foreign magic number")
	}
	if crc32.Checksum(p[:60], castagnoli) != le.Uint32(p[60:]) {
		return block{}, errors.New("checksum of the block differs")
	}
	v := le.Uint32(p[8:])
	if v < 1 || v > versionEra {
		return block{}, &VersionError{Version: v}
	}
	if p[56] >= lanes {
		return block{}, fmt.Errorf("segment is of the unknown lane %d", p[56])
	}
	b := block{
		version: v, lane: p[56],
		capacity: le.Uint32(p[12:]), number: le.Uint64(p[16:]), salt: le.Uint64(p[24:]), created: int64(le.Uint64(p[32:])),
		indexAt: le.Uint32(p[40:]), indexLen: le.Uint32(p[44:]), indexCRC: le.Uint32(p[48:]), recordEnd: le.Uint32(p[52:]),
	}
	if v == versionEra {
		b.shift, b.created = b.created, 0
		b.era = uint32(p[57]) | uint32(p[58])<<8 | uint32(p[59])<<16
	}
	if b.capacity < minSegmentBytes || b.capacity > maxSegmentBytes {
		return block{}, fmt.Errorf("segment says it has %d bytes", b.capacity)
	}
	if b.sealed() && (b.indexAt < blockBytes || uint64(b.indexAt)+uint64(b.indexLen) > uint64(b.capacity)-blockBytes || b.recordEnd > b.indexAt) {
		return block{}, fmt.Errorf("index of %d bytes at %d does not fit", b.indexLen, b.indexAt)
	}
	return b, nil
}

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
	if len(p) < recordHead || le.Uint32(p) != recordMagic {
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

// payload checks the bytes after the header and splits them. The slices are of p.
func (r record) payload(p []byte) (camera, body []byte, err error) {
	if uint32(len(p)) < r.length {
		return nil, nil, errors.New("record is cut off")
	}
	p = p[:r.length]
	if crc32.Checksum(p, castagnoli) != r.crc {
		return nil, nil, errors.New("checksum of the record differs")
	}
	return p[:r.camera], p[r.camera:], nil
}

const (
	namePrefix = "stills-"
	nameSuffix = ".seg"
)

func segmentName(number uint64) string {
	return fmt.Sprintf("%s%012d%s", namePrefix, number, nameSuffix)
}

// segmentNumber is the number in a segment's name; other names are of foreign files.
func segmentNumber(name string) (uint64, bool) {
	digits, ok := strings.CutPrefix(name, namePrefix)
	digits, ok2 := strings.CutSuffix(digits, nameSuffix)
	n, err := strconv.ParseUint(digits, 10, 63)
	return n, ok && ok2 && err == nil && n > 0 && name == segmentName(n)
}
