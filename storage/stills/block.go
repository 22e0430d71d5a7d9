package stills

import (
	"crypto/rand"
	"errors"
	"fmt"
	"hash/crc32"
	"time"
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

// head is the first block where b is the last one: it never says where the index is.
func (b block) head() block {
	b.indexAt, b.indexLen, b.indexCRC, b.recordEnd = 0, 0, 0, 0
	return b
}

// pointTo has the last block say that the segment's records end at end and the index p stands there.
func (b *block) pointTo(p []byte, end uint32) {
	b.indexAt, b.indexLen, b.indexCRC, b.recordEnd = end, uint32(len(p)), crc32.Checksum(p, castagnoli), end
}

// settle adds shift to the times of a segment of an era, which is over.
func (b *block) settle(shift int64) { b.era, b.shift = 0, b.shift+shift }

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

// newBlock is the head of a segment to be made.
func newBlock(number uint64, lane int, capacity int64, now time.Time) block {
	var salt [8]byte
	_, _ = rand.Read(salt[:]) // it never fails
	return block{version: version, lane: uint8(lane), capacity: uint32(capacity), number: number, salt: le.Uint64(salt[:]), created: now.UnixNano()}
}
